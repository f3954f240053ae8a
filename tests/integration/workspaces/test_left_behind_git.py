"""What is left of git's own work in a tree, or of its own files, which may be spoilt."""

import os
import subprocess
import time
from dataclasses import replace

import pytest

from orchestrator.model.errors import Unavailable

from .conftest import KEPT, admin

# What git itself was in the middle of --------------------------------------------------------------


def test_an_unfinished_merge_is_cleared(place, clean, repo):
    repo.git("checkout", "-qb", "other", cwd=place)
    (place / "readme.txt").write_text("other\n")
    repo.git("commit", "-qam", "other", cwd=place)
    repo.git("checkout", "-q", "task-work/demo/parser", cwd=place)
    (place / "readme.txt").write_text("mine\n")
    repo.git("commit", "-qam", "mine", cwd=place)
    done = subprocess.run(["git", "merge", "other"], cwd=place, capture_output=True, check=False)
    assert done.returncode == 1
    kept = clean()
    assert any("<<<<<<<" in repo.at(commit, "readme.txt") for commit in kept.values())


def test_an_unfinished_rebase_is_cleared(place, clean, repo):
    (place / "readme.txt").write_text("mine\n")
    repo.git("commit", "-qam", "mine", cwd=place)
    repo.git("checkout", "-qb", "other", "HEAD^", cwd=place)
    (place / "readme.txt").write_text("other\n")
    repo.git("commit", "-qam", "other", cwd=place)
    done = subprocess.run(
        ["git", "rebase", "-q", "task-work/demo/parser"], cwd=place, capture_output=True, check=False
    )
    assert done.returncode == 1
    clean()
    assert "rebase" not in repo.git("status", cwd=place)


@pytest.mark.parametrize(
    "commands",
    [
        [("checkout", "-q", "--detach")],
        [("checkout", "-qb", "elsewhere")],
        [("checkout", "-q", "--orphan", "nothing"), ("rm", "-rqf", ".")],
        [("checkout", "-qb", "feature/x"), ("commit", "-q", "--allow-empty", "-m", "x")],
        [("reset", "-q", "--soft", "HEAD")],
        [("update-index", "--assume-unchanged", "readme.txt")],
        [("branch", "-m", "renamed")],
    ],
)
def test_wherever_the_agent_went_the_tree_comes_back(place, clean, repo, tree, workspaces, commands):
    for command in commands:
        repo.git(*command, cwd=place)
    (place / "new.txt").write_text("new")
    commit, _ = workspaces.commit(tree, "x")
    assert repo.git("rev-parse", f"{commit}^") == tree.base
    assert repo.at(commit, "new.txt") == "new"
    assert repo.git("symbolic-ref", "HEAD", cwd=place) == "refs/heads/task-work/demo/parser"
    assert commit in clean().values()


def test_commits_on_a_detached_head_are_kept_on_release(place, repo, tree, workspaces):
    """Commits that the agent made on a detached head are kept on release."""
    repo.git("checkout", "-q", "--detach", cwd=place)
    (place / "new.txt").write_text("new")
    repo.git("add", "-A", cwd=place)
    repo.git("commit", "-qm", "detached", cwd=place)
    head = repo.git("rev-parse", "HEAD", cwd=place)
    workspaces.release(tree, 1)
    assert list(repo.refs(KEPT).values()) == [head]


def test_dirty_work_beside_the_trees_own_commit_keeps_both(place, clean, repo, tree, workspaces):
    """The agent left its rejected commit for the base and began anew: neither holds the other."""
    (place / "first.txt").write_text("first")
    commit, _ = workspaces.commit(tree, "First")
    repo.git("checkout", "-q", "--detach", tree.base, cwd=place)
    (place / "second.txt").write_text("second")
    kept = clean()
    assert commit in kept.values()
    assert any("second.txt" in repo.names(each) for each in kept.values())


# Git's own files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("lock", ["index.lock", "HEAD.lock"])
def test_locks_that_a_killed_git_left_in_the_tree_are_cleared(place, clean, repo, tree, workspaces, lock):
    (admin(repo) / lock).touch()
    (place / "new.txt").write_text("new")
    assert workspaces.commit(tree, "x")[1] == 1
    (admin(repo) / lock).touch()
    assert len(clean()) == 1


def test_lock_on_own_refs_is_cleared_once_unheld(place, repo, tree, workspaces):
    """A lock of our own refs is cleared once nobody can hold it."""
    lock = repo.path / ".git" / "refs" / "heads" / "task-work" / "demo" / "parser.lock"
    lock.touch()
    (place / "new.txt").write_text("new")
    with pytest.raises(Unavailable, match="lock"):
        workspaces.commit(tree, "x")
    os.utime(lock, (time.time() - 61, time.time() - 61))
    assert workspaces.commit(tree, "x")[1] == 1


def test_a_lock_of_anything_else_is_never_cleared(place, repo, tree, workspaces):
    lock = repo.path / ".git" / "packed-refs.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    (place / "new.txt").write_text("new")
    commit, _ = workspaces.commit(tree, "x")
    assert workspaces.merge(tree, commit) == ""
    assert lock.exists()


def test_a_tree_whose_folder_was_deleted_is_made_again(clean, tree, workspaces):
    workspaces.prepare(tree, 1)
    subprocess.run(["rm", "-rf", tree.path], check=True)
    assert clean() == {}


def test_a_registration_that_was_pruned_loses_no_work(place, clean, repo):
    (place / "half.txt").write_text("half")
    subprocess.run(["rm", "-rf", admin(repo)], check=True)
    (kept,) = clean().values()
    assert repo.at(kept, "half.txt") == "half"


def test_a_locked_registration_is_no_obstacle(repo, tree, workspaces, clean):
    workspaces.prepare(tree, 1)
    repo.git("worktree", "lock", str(tree.path))
    subprocess.run(["rm", "-rf", tree.path], check=True)
    clean()
    repo.git("worktree", "lock", str(tree.path))
    workspaces.release(tree, 2)
    assert not admin(repo).exists()


def test_git_killed_while_it_made_the_tree(repo, tree, workspaces, clean):
    workspaces.prepare(tree, 1)
    (admin(repo) / "locked").write_text("initializing")
    (admin(repo) / "index").unlink()
    (tree.path / "readme.txt").unlink()
    assert clean() == {}


@pytest.mark.parametrize("name", ["HEAD", "index", "commondir", "gitdir"])
@pytest.mark.parametrize("how", ["emptied", "garbled", "gone"])
def test_gits_own_files_of_the_tree_spoilt(place, clean, repo, name, how):
    (place / "half.txt").write_text("half")
    path = admin(repo) / name
    path.unlink()
    if how != "gone":
        path.write_bytes(b"" if how == "emptied" else b"\x00garbage\n")
    kept = clean()
    assert any(repo.at(commit, "half.txt") == "half" for commit in kept.values())


def test_files_and_folders_that_changed_places(repo, tree, workspaces, clean, tmp_path):
    repo.save({"a": "file", "b/c": "in a folder", "d/e": "in a folder"}, "shapes")
    tree = replace(tree, base=workspaces.head(repo.path), name="shapes")
    place = workspaces.prepare(tree, 1)
    (place / "a").unlink()
    (place / "a").mkdir()
    (place / "a" / "inner").write_text("inner")
    (place / "b" / "c").unlink()
    (place / "b").rmdir()
    (place / "b").write_text("a file now")
    (place / "d" / "e").unlink()
    (place / "d").rmdir()
    (place / "d").symlink_to(tmp_path)
    commit, files = workspaces.commit(tree, "x")
    assert repo.names(commit) == {".gitignore", "a/inner", "b", "d", "readme.txt"}
    assert files == 6
    workspaces.prepare(tree, 2)
    assert (place / "b" / "c").read_text() == "in a folder"


def test_registration_emptied_by_a_power_cut_stops_no_merge(place, repo, tree, workspaces):
    """A registration emptied by a power cut does not stop a merge."""
    (place / "new.txt").write_text("new")
    commit, _ = workspaces.commit(tree, "x")
    (admin(repo) / "commondir").write_bytes(b"")
    assert workspaces.merge(tree, commit) == ""


@pytest.mark.parametrize("how", ["gone", "elsewhere", "folder", "link"])
def test_the_trees_link_to_git_spoilt(place, clean, repo, tree, workspaces, how):
    (place / "half.txt").write_text("half")
    (place / ".git").unlink()
    if how == "elsewhere":
        (place / ".git").write_text("gitdir: /nowhere\n")
    elif how == "folder":
        (place / ".git").mkdir()
    elif how == "link":
        (place / ".git").symlink_to(repo.path / ".git")
    commit, _ = workspaces.commit(tree, "x")
    assert repo.at(commit, "half.txt") == "half"
    assert commit in clean().values()


def test_trees_of_the_user_are_never_pruned(repo, tree, workspaces, tmp_path):
    repo.git("worktree", "add", "-q", str(tmp_path / "usb"))
    (tmp_path / "usb").rename(tmp_path / "unplugged")
    workspaces.prepare(tree, 1)
    workspaces.release(tree, 1)
    (tmp_path / "unplugged").rename(tmp_path / "usb")
    assert repo.git("status", "--porcelain", cwd=tmp_path / "usb") == ""


def test_a_branch_registered_where_no_tree_is_any_more_is_ours(repo, tree, workspaces, tmp_path):
    workspaces.prepare(tree, 1)
    tree.path.rename(tmp_path / "moved")
    other = replace(tree, root=tmp_path / "new-trees")
    workspaces.prepare(other, 2)
    assert repo.git("symbolic-ref", "HEAD", cwd=other.path) == "refs/heads/task-work/demo/parser"


def test_what_an_agent_program_leaves_for_itself_is_nobodys_work(repo, tree, workspaces):
    path = workspaces.prepare(tree, 1)
    for name in (".aider.tags.cache.v4/cache.db", ".aider.chat.history.md", ".aider.conf.yml", "made.py"):
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text("x")
    commit, _ = workspaces.commit(tree, "Work")
    assert repo.names(commit) - repo.names(tree.base) == {"made.py", ".aider.conf.yml"}


CACHED = ("pkg/__pycache__/a.cpython-311.pyc", ".pytest_cache/v/cache/lastfailed", ".mypy_cache/x.json")


@pytest.mark.parametrize("committed", [False, True])
def test_caches_alone_are_no_work(repo, tree, workspaces, committed):
    """A developer that wrote nothing and ran the tests had a commit of bytecode, and its subtask passed."""
    path = workspaces.prepare(tree, 1)
    for name in CACHED:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text("x")
    if committed:
        repo.git("add", "--force", "--all", cwd=path)
        repo.git("commit", "-q", "-m", "Work", cwd=path)
    assert workspaces.commit(tree, "Work") == ("", 0)


def test_caches_that_the_user_has_committed_stay(repo, tree, workspaces):
    path = workspaces.prepare(tree, 1)
    (path / "kept" / "__pycache__").mkdir(parents=True)
    (path / "kept" / "__pycache__" / "a.pyc").write_text("x")
    repo.git("add", "--force", "--all", cwd=path)
    repo.git("commit", "-q", "-m", "Theirs", cwd=path)
    theirs = replace(tree, base=repo.git("rev-parse", "HEAD", cwd=path), name="other", branch="task/other")
    path = workspaces.prepare(theirs, 1)
    (path / "made.py").write_text("x")
    commit, _ = workspaces.commit(theirs, "Work")
    assert repo.names(commit) - repo.names(theirs.base) == {"made.py"}
    assert repo.names(theirs.base) <= repo.names(commit)


def test_caches_do_not_change_how_a_users_tree_stands(repo, workspaces):
    before = workspaces.fingerprint(repo.path, repo.path / "tasks")
    (repo.path / "pkg" / "__pycache__").mkdir(parents=True)
    (repo.path / "pkg" / "__pycache__" / "a.pyc").write_text("x")
    assert workspaces.fingerprint(repo.path, repo.path / "tasks") == before
    (repo.path / "pkg" / "made.py").write_text("x")
    assert workspaces.fingerprint(repo.path, repo.path / "tasks") != before


def test_caches_are_gone_in_the_next_attempt(place, clean):
    for name in CACHED:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("x")
    assert not clean()
