"""Where repositories lie, and of what kind they are."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.worktree import Tree
from orchestrator.workspaces.git import GitWorkspaces

from .conftest import Repo


def done(workspaces: GitWorkspaces, tree: Tree, name: str = "new.txt") -> str:
    """Prepare a tree, work in it, commit, merge; return the commit."""
    place = workspaces.prepare(tree, 1)
    (place / name).write_text("new\n")
    commit, files = workspaces.commit(tree, "Work")
    assert files == 1
    assert workspaces.merge(tree, commit) == ""
    workspaces.release(tree, 1)
    return commit


def test_a_project_in_a_subfolder_is_worked_on_there(repo, tree, workspaces):
    repo.save({"pkg/sub dir/a.py": "a = 1\n"}, "sub")
    inner = replace(tree, project=repo.path / "pkg" / "sub dir", base=workspaces.head(repo.path))
    assert workspaces.prepare(inner, 1) == tree.path / "pkg" / "sub dir"
    assert workspaces.where(inner) == tree.path / "pkg" / "sub dir"
    assert "pkg/sub dir/new.txt" in repo.names(done(workspaces, inner))


def test_subfolder_missing_in_the_commit_gives_the_whole_tree(repo, tree, workspaces):
    """A subfolder that is not in the commit gives the whole tree."""
    (repo.path / "untracked").mkdir()
    assert workspaces.prepare(replace(tree, project=repo.path / "untracked"), 1) == tree.path


def test_a_subfolder_that_became_a_link_is_not_followed(repo, tree, workspaces, tmp_path):
    repo.save({"pkg/a.py": "a = 1\n"}, "sub")
    inner = replace(tree, project=repo.path / "pkg", base=workspaces.head(repo.path))
    workspaces.prepare(inner, 1)
    (tree.path / "pkg" / "a.py").unlink()
    (tree.path / "pkg").rmdir()
    (tree.path / "pkg").symlink_to(tmp_path)
    assert workspaces.where(inner) == tree.path


def test_a_bare_repository(repo, tree, workspaces, tmp_path):
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    done(workspaces, replace(tree, project=tmp_path / "bare.git"))


def test_a_shallow_clone(repo, tree, workspaces, tmp_path):
    repo.save({"a.txt": "a"}, "second").save({"b.txt": "b"}, "third")
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow"))
    project = tmp_path / "shallow"
    done(workspaces, replace(tree, project=project, base=workspaces.head(project)))


def test_a_worktree_of_the_users_own(repo, tree, workspaces, tmp_path):
    repo.git("worktree", "add", "-q", "-b", "feature", str(tmp_path / "feature"))
    feature = Repo(tmp_path / "feature").save({"f.txt": "f"}, "feature")
    head = workspaces.head(feature.path)
    assert head == feature.git("rev-parse", "HEAD") != workspaces.head(repo.path)
    done(workspaces, replace(tree, project=feature.path, base=head))
    assert feature.git("status", "--porcelain") == ""
    assert feature.git("symbolic-ref", "HEAD") == "refs/heads/feature"


def test_a_project_behind_a_link(repo, tree, workspaces, tmp_path):
    (tmp_path / "link").symlink_to(repo.path)
    linked = replace(tree, project=tmp_path / "link")
    done(workspaces, linked)
    workspaces.prepare(linked, 2)
    marker = tree.path / ".git"
    before = marker.stat().st_mtime_ns
    workspaces.prepare(linked, 3)
    assert marker.stat().st_mtime_ns == before  # it was found, not made anew


def test_a_project_that_is_a_submodule(repo, tree, workspaces, tmp_path):
    outer = Repo(tmp_path / "outer").start()
    outer.git("submodule", "--quiet", "add", str(repo.path), "inner")
    outer.git("commit", "-qm", "with inner")
    done(workspaces, replace(tree, project=outer.path / "inner"))


def test_submodules_are_left_alone(repo, tree, workspaces, tmp_path):
    library = Repo(tmp_path / "library").start()
    repo.git("submodule", "--quiet", "add", str(library.path), "lib")
    repo.git("commit", "-qm", "with lib")
    tree = replace(tree, base=workspaces.head(repo.path))
    commit = done(workspaces, tree)
    assert repo.git("ls-tree", commit, "lib") == repo.git("ls-tree", "main", "lib")
    workspaces.prepare(tree, 2)
    assert list((tree.path / "lib").iterdir()) == []
    assert repo.refs("refs/tasks") == {}


@pytest.mark.parametrize("kind", ["--object-format=sha256", "--separate-git-dir"])
def test_other_kinds_of_repository(tree, workspaces, tmp_path, kind):
    other = Repo(tmp_path / "other")
    other.start(kind, *([str(tmp_path / "elsewhere.git")] if kind == "--separate-git-dir" else []))
    done(workspaces, replace(tree, project=other.path, base=workspaces.head(other.path)))


def test_a_sparse_project_loses_nothing(repo, tree, workspaces):
    repo.save({"in/a.txt": "a", "out/b.txt": "b"}, "two folders")
    repo.git("sparse-checkout", "set", "in")
    tree = replace(tree, base=workspaces.head(repo.path))
    assert repo.names(done(workspaces, tree)) == {
        ".gitignore",
        "in/a.txt",
        "new.txt",
        "out/b.txt",
        "readme.txt",
    }
    assert not (repo.path / "out").exists()


def test_a_sparse_tree_that_was_spoilt_is_kept_but_not_committed(repo, tree, workspaces):
    repo.save({"in/a.txt": "a", "out/b.txt": "b"}, "two folders")
    repo.git("sparse-checkout", "set", "in")
    tree = replace(tree, base=workspaces.head(repo.path))
    place = workspaces.prepare(tree, 1)
    assert not (place / "out").exists()
    (place / "new.txt").write_text("new")
    (repo.path / ".git" / "worktrees" / "parser" / "index").write_bytes(b"garbage")
    with pytest.raises(Unavailable, match="index file"):
        workspaces.commit(tree, "x")
    workspaces.prepare(tree, 2)
    (kept,) = repo.refs("refs/tasks/").values()
    assert repo.at(kept, "new.txt") == "new"


def test_a_repository_that_moved_is_followed(repo, tree, workspaces, tmp_path):
    workspaces.prepare(tree, 1)
    (tree.path / "half.txt").write_text("half")
    moved = replace(tree, project=repo.path.rename(tmp_path / "moved"))
    commit, _ = workspaces.commit(moved, "Work")
    workspaces.prepare(moved, 2)
    here = Repo(moved.project)
    assert list(here.refs("refs/tasks").values()) == [commit]
    assert here.git("status", "--porcelain", cwd=tree.path) == ""


def test_trees_that_moved_are_made_anew_and_their_work_is_kept(repo, tree, workspaces, tmp_path):
    workspaces.prepare(tree, 1)
    (tree.path / "half.txt").write_text("half")
    moved = replace(tree, root=tree.root.rename(tmp_path / "elsewhere"))
    workspaces.prepare(moved, 2)
    assert repo.git("status", "--porcelain", cwd=moved.path) == ""
    (kept,) = repo.refs("refs/tasks").values()
    assert repo.at(kept, "half.txt") == "half"
    workspaces.release(moved, 2)


def test_what_is_no_repository_says_what_to_do(tmp_path, workspaces, tree):
    (tmp_path / "plain").mkdir()
    with pytest.raises(Refused, match="is not in a git repository: run `git init` there and commit"):
        workspaces.head(tmp_path / "plain")
    with pytest.raises(Refused, match="is not a folder"):
        workspaces.head(tmp_path / "none")
    Repo(tmp_path / "empty").path.mkdir()
    Repo(tmp_path / "empty").git("init", "-q")
    with pytest.raises(Refused, match="has no commit yet"):
        workspaces.head(tmp_path / "empty")
    with pytest.raises(Refused, match="is not in a git repository"):
        workspaces.prepare(replace(tree, project=tmp_path / "plain"), 1)


def test_a_broken_repository_is_reported(repo, workspaces):
    (repo.path / ".git" / "config").write_text("[core\n")
    with pytest.raises(Refused, match=r"git cannot read the repository of .*: fatal: bad config"):
        workspaces.head(repo.path)


def test_without_git_that_is_reported(repo, tmp_path):
    with pytest.raises(Unavailable, match="git cannot be run in"):
        GitWorkspaces(environ={"PATH": str(tmp_path)}).head(repo.path)


def test_the_daemons_own_git_variables_count_for_nothing(repo, tree, tmp_path, git_config):
    other = Repo(tmp_path / "other").start()
    environ = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "GIT_CONFIG_GLOBAL": str(git_config),
        "GIT_DIR": str(other.path / ".git"),
        "GIT_WORK_TREE": str(other.path),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_NAMESPACE": "x",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true",
    }
    done(GitWorkspaces(environ=environ), tree)
    assert other.refs() == {"refs/heads/main": other.git("rev-parse", "HEAD")}


def test_a_branch_named_task_is_in_the_way(repo, tree, workspaces):
    repo.git("branch", "task")
    with pytest.raises(Refused, match="cannot be made beside the branch `task`"):
        workspaces.prepare(tree, 1)


def test_two_projects_do_not_mix(tmp_path, workspaces):
    repos = [Repo(tmp_path / name).start() for name in ("one", "two")]
    trees = [
        Tree(
            repo.path, tmp_path / f"trees-{repo.path.name}", "parser", "task/demo", workspaces.head(repo.path)
        )
        for repo in repos
    ]
    for each in trees:
        workspaces.prepare(each, 1)
        (each.path / "who.txt").write_text(each.project.name)
    for repo, each in zip(repos, trees, strict=True):
        assert repo.at(workspaces.commit(each, "x")[0], "who.txt") == repo.path.name


def test_trees_of_one_task_are_worked_on_side_by_side(repo, tree, workspaces):
    def work(number):
        each = replace(tree, name=f"t{number}")
        (workspaces.prepare(each, 1) / f"new{number}.txt").write_text("new")
        return each, workspaces.commit(each, "Work")[0]

    with ThreadPoolExecutor(6) as pool:
        for each, commit in pool.map(work, range(6)):
            assert repo.git("rev-parse", f"{commit}^") == tree.base
            workspaces.release(each, 1)
    assert len(repo.refs("refs/tasks/")) == 6


def test_an_old_git_is_reported(repo, tree, tmp_path, git_config):
    shim = tmp_path / "bin"
    shim.mkdir()
    (shim / "git").write_text(
        '#!/bin/sh\ncase "$*" in *merge-tree*) echo "usage: git merge-tree" >&2; exit 129;; esac\n'
        'exec /usr/bin/env PATH="$REAL" git "$@"\n'
    )
    (shim / "git").chmod(0o755)
    path = os.environ["PATH"]
    environ = {"PATH": f"{shim}:{path}", "REAL": path, "GIT_CONFIG_GLOBAL": str(git_config)}
    workspaces = GitWorkspaces(environ=environ)
    for name in ("one", "two"):
        (workspaces.prepare(replace(tree, name=name), 1) / f"{name}.txt").write_text(name)
    workspaces.merge(tree, workspaces.commit(replace(tree, name="one"), "x")[0])
    with pytest.raises(Unavailable, match=r"needs git 2\.38 or newer"):
        workspaces.commit(replace(tree, name="two"), "x")
