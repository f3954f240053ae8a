"""What agents, users and killed programs leave behind in a tree or beside it."""

import os
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import OrchestratorError, Refused, Unavailable
from orchestrator.ports.workspaces import LeftOut
from tests.odd_files import make

from .conftest import KEPT, Repo


@pytest.fixture
def place(tree, workspaces):
    return workspaces.prepare(tree, 1)


@pytest.fixture
def clean(repo, tree, workspaces):
    """Prepare the tree for its second attempt and look that nothing is left in it; return what was kept."""

    def prepare():
        workspaces.prepare(tree, 2)
        assert repo.git("status", "--porcelain", "--ignored", cwd=tree.path) == ""
        assert repo.git("rev-parse", "HEAD", cwd=tree.path) == tree.base
        assert repo.git("symbolic-ref", "HEAD", cwd=tree.path) == "refs/heads/task-work/demo/parser"
        assert {path.name for path in tree.path.iterdir()} == {".git", ".gitignore", "readme.txt"}
        return repo.refs(KEPT)

    return prepare


# Files -------------------------------------------------------------------------------------------


def test_junk_is_kept_and_what_is_ignored_is_not(place, clean, repo):
    (place / "deep" / "er").mkdir(parents=True)
    (place / "deep" / "er" / "notes.txt").write_text("notes")
    (place / "test.log").write_text("log")
    (place / "build").mkdir()
    (place / "build" / "out.o").write_text("o")
    (place / "empty").mkdir()
    (kept,) = clean().values()
    assert repo.names(kept) == {".gitignore", "deep/er/notes.txt", "readme.txt"}


def test_what_no_commit_can_hold_is_named(place, repo, tree, workspaces):
    (place / "build").mkdir()
    (place / "build" / "out.o").write_text("o")
    repo.git("init", "-q", "web", cwd=place)
    (place / "web" / "index.html").write_text("x")
    assert workspaces.commit(tree, "x") == ("", 0)
    assert workspaces.left_out(tree) == LeftOut(ignored=("build/",), repositories=("web/",))


def test_staged_repository_without_origin_is_left_out(place, repo, tree, workspaces):
    """`git add --all` made a link of it: the commit had one file, and whoever merged it had an empty folder."""
    repo.git("init", "-q", "web", cwd=place)
    (place / "web" / "index.html").write_text("x")
    for where in (place / "web", place):
        repo.git("add", "--all", cwd=where)
        repo.git("commit", "-q", "-m", "x", cwd=where)
    assert workspaces.commit(tree, "x") == ("", 0)
    assert workspaces.left_out(tree).repositories == ("web/",)


def test_submodule_with_an_origin_is_in_the_commit(place, repo, tree, workspaces):
    allowed = ("-c", "protocol.file.allow=always")
    repo.git(*allowed, "submodule", "--quiet", "add", str(repo.path), "lib", cwd=place)
    commit, files = workspaces.commit(tree, "x")
    assert files == 2
    assert "lib" in repo.names(commit)
    assert workspaces.left_out(tree) == LeftOut(submodules=("lib",))


def test_files_where_a_submodule_belongs_are_named(place, repo, tree, workspaces):
    """They were in no commit, and nobody was told: a check passed by them, and the branch lacks them."""
    allowed = ("-c", "protocol.file.allow=always")
    repo.git(*allowed, "submodule", "--quiet", "add", str(repo.path), "lib")
    repo.git("commit", "-q", "-m", "lib")
    tree = replace(tree, base=repo.git("rev-parse", "HEAD"), branch="task/other")
    workspaces.prepare(tree, 1)
    assert workspaces.left_out(tree) == LeftOut()
    (tree.path / "lib" / "new.py").write_text("NEW = 1\n")
    (tree.path / "other.py").write_text("OTHER = 1\n")
    commit, _ = workspaces.commit(tree, "x")
    assert "lib/new.py" not in repo.names(commit)
    assert workspaces.left_out(tree) == LeftOut(ignored=("lib/",))


@pytest.mark.parametrize(
    "name",
    [b"-rf", b"a\nb", b"\xff\xfe", b'"q"', b" x", b"a\tb", b"*", b":(top)x", b"~", b"\x1b[2J", "ü".encode()],
)
def test_names_are_taken_as_they_are(place, clean, repo, workspaces, tree, name):
    path = place / os.fsdecode(name)
    path.write_text("x")
    commit, files = workspaces.commit(tree, "x")
    assert files == 1
    assert os.fsdecode(name) in repo.git("ls-tree", "-z", "--name-only", commit).split("\0")
    path.rename(f"{path}2")
    (kept,) = clean().values()
    assert repo.git("rev-parse", f"{kept}^") == commit


def test_links_are_removed_and_never_followed(place, clean, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious.txt").write_text("precious")
    (place / "link").symlink_to(outside)
    (place / "build").symlink_to(outside)
    (place / "readme.txt").unlink()
    (place / "readme.txt").symlink_to(outside / "precious.txt")
    clean()
    assert (outside / "precious.txt").read_text() == "precious"


def test_link_in_place_of_the_tree_is_removed_not_followed(repo, tree, workspaces, tmp_path, clean):
    """A link in place of the tree is taken away and never followed."""
    workspaces.prepare(tree, 1)
    tree.path.rename(tmp_path / "outside")
    tree.path.symlink_to(tmp_path / "outside")
    with pytest.raises(Refused, match="is gone"):
        workspaces.where(tree)
    clean()
    assert (tmp_path / "outside" / "readme.txt").exists()
    workspaces.release(tree, 2)
    tree.path.symlink_to(tmp_path / "outside")
    workspaces.release(tree, 2)
    assert (tmp_path / "outside" / "readme.txt").exists()


def test_a_file_in_place_of_the_tree_is_refused(tree, workspaces):
    tree.root.mkdir()
    tree.path.write_text("precious")
    with pytest.raises(Refused, match="is not a folder: move it away"):
        workspaces.prepare(tree, 1)
    assert tree.path.read_text() == "precious"


def test_closed_folders_and_files_are_opened_and_removed(place, clean, repo):
    (place / "closed").mkdir()
    (place / "closed" / "a.txt").write_text("a")
    (place / "closed" / "a.txt").chmod(0)
    (place / "closed").chmod(0)
    (kept,) = clean().values()
    assert repo.at(kept, "closed/a.txt") == "a"


def test_pipes_and_sockets_do_no_harm(place, workspaces, tree):
    os.mkfifo(place / "pipe")
    (place / "sub").mkdir()
    os.mkfifo(place / "sub" / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(place)
        listening.bind("socket")
    (place / "readme.txt").unlink()
    os.mkfifo(place / "readme.txt")
    workspaces.commit(tree, "x")
    workspaces.prepare(tree, 2)
    assert (place / "readme.txt").read_text() == "hello\n"
    assert {path.name for path in place.iterdir()} == {".git", ".gitignore", "readme.txt"}


def test_everything_deleted_is_a_change_like_any_other(place, clean, repo, tree, workspaces):
    for name in (".gitignore", "readme.txt"):
        (place / name).unlink()
    commit, files = workspaces.commit(tree, "Nothing is left")
    assert (repo.git("ls-tree", commit), files) == ("", 2)
    assert list(clean().values()) == [commit]


def test_renames_count_as_two_files_and_modes_as_one(place, tree, workspaces, repo):
    (place / "readme.txt").rename(place / "README.txt")
    (place / ".gitignore").chmod(0o755)
    commit, files = workspaces.commit(tree, "x")
    assert files == 3
    assert repo.git("ls-tree", commit, ".gitignore").startswith("100755")


def test_a_change_in_the_very_moment_of_the_checkout_is_seen(repo, tree, workspaces):
    """Same size, same time: only that the index is no younger tells git to compare the file."""
    repo.git("config", "core.trustctime", "false")
    place = workspaces.prepare(tree, 1)
    then = (place / "readme.txt").stat().st_mtime_ns
    os.utime(admin(repo) / "index", ns=(then, then))
    (place / "readme.txt").write_text("HELLO\n")
    os.utime(place / "readme.txt", ns=(then, then))
    assert workspaces.commit(tree, "x")[1] == 1


# Repositories inside the tree ----------------------------------------------------------------------


@pytest.mark.parametrize("how", ["empty", "committed", "staged"])
def test_nested_repository_is_kept_but_not_committed(place, clean, repo, tree, workspaces, how):
    """A repository made in the tree is left out of a commit but kept."""
    inner = place / "vendor" / "inner"
    inner.mkdir(parents=True)
    repo.git("init", "-q", cwd=inner)
    (inner / "code.c").write_text("code")
    if how != "empty":
        repo.git("add", "-A", cwd=inner)
        repo.git("commit", "-qm", "inner", cwd=inner)
    if how == "staged":
        repo.git("add", "vendor/inner", cwd=place)
    (place / "new.txt").write_text("new")
    commit, files = workspaces.commit(tree, "x")
    assert "vendor/inner/code.c" not in repo.names(commit)
    assert files == 1
    kept = [repo.names(commit) for commit in clean().values()]
    assert any({"vendor/inner/code.c", "vendor/inner/.git-kept/HEAD"} <= names for names in kept)


def test_repositories_in_repositories_are_kept(place, clean, repo):
    inner = place
    for name in ("a", "b", "c"):
        inner = inner / name
        inner.mkdir()
        repo.git("init", "-q", cwd=inner)
        (inner / "x.txt").write_text("x")
    (kept,) = clean().values()
    assert {"a/x.txt", "a/b/x.txt", "a/b/c/x.txt", "a/b/c/.git-kept/HEAD"} <= repo.names(kept)


def test_git_runs_no_program_that_an_agent_names(place, clean, repo, tree, workspaces, tmp_path):
    marker = tmp_path / "evil"
    evil = f'[core]\nfsmonitor = touch {marker}\nhooksPath = {place}/hooks\n[filter "x"]\nclean = touch {marker}\n'
    evil += f"process = touch {marker}\nsmudge = touch {marker}\n[diff]\nexternal = touch {marker}\n"
    (place / "hooks").mkdir()
    for hook in ("post-checkout", "pre-commit", "reference-transaction", "post-index-change"):
        (place / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {marker}\n")
        (place / "hooks" / hook).chmod(0o755)
    (place / ".gitattributes").write_text("* filter=x diff=x\n")
    for inner in (place / "inner", place / "staged"):
        inner.mkdir()
        repo.git("init", "-q", cwd=inner)
        (inner / "f.txt").write_text("tracked")
        (inner / ".gitattributes").write_text("* filter=x diff=x\n")
        repo.git("add", "-A", cwd=inner)
        repo.git("commit", "-qm", "x", cwd=inner)
        (inner / "f.txt").write_text("changed")
    repo.git("add", "staged", cwd=place)
    for inner in (place / "inner", place / "staged"):
        (inner / ".git" / "config").write_text("[core]\nrepositoryformatversion = 0\n" + evil)
    assert workspaces.left_out(tree).repositories == ("inner/", "staged/")
    (place / ".git").unlink()
    repo.git("init", "-q", cwd=place)
    (place / ".git" / "config").write_text("[core]\nrepositoryformatversion = 0\n" + evil)
    workspaces.where(tree)
    workspaces.commit(tree, "x")
    clean()
    workspaces.release(tree, 2)
    assert not marker.exists()


def test_hooks_of_the_repository_are_not_run(repo, tree, workspaces, tmp_path):
    marker = tmp_path / "ran"
    for hook in ("post-checkout", "pre-commit", "commit-msg", "reference-transaction", "post-index-change"):
        path = repo.path / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {marker}\n")
        path.chmod(0o755)
    place = workspaces.prepare(tree, 1)
    (place / "new.txt").write_text("new")
    workspaces.merge(tree, workspaces.commit(tree, "x")[0])
    workspaces.prepare(tree, 2)
    workspaces.release(tree, 2)
    assert not marker.exists()


def test_filters_of_the_user_are_theirs_and_work(repo, tree, workspaces, git_config):
    with git_config.open("a") as file:
        file.write('[filter "up"]\nclean = tr a-z A-Z\nsmudge = tr A-Z a-z\n')
    place = workspaces.prepare(tree, 1)
    (place / ".gitattributes").write_text("*.up filter=up\n")
    (place / "a.up").write_text("abc")
    commit, _ = workspaces.commit(tree, "x")
    assert repo.at(commit, "a.up") == "ABC"
    workspaces.merge(tree, commit)
    workspaces.prepare(tree, 2)
    assert (place / "a.up").read_text() == "abc"


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


def admin(repo: Repo, name: str = "parser") -> Path:
    return repo.path / ".git" / "worktrees" / name


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


# What no plain file is --------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["pipe", "folder", "sparse"])
def test_odd_notes_and_links_are_not_waited_for(repo, tree, workspaces, place, alarmed, what):
    """Each held up a worker for as long as nobody wrote into it."""
    (place / "new.txt").write_text("new")
    made = repo.path / ".git" / "worktrees" / place.name
    for path in (tree.root / f".{tree.name}.base", made / "gitdir", made / "locked", place / ".git"):
        before = path.read_bytes() if path.exists() else b""
        make(path, what)
        workspaces.tend(tree)
        with suppress(OrchestratorError, OSError):
            workspaces.look(tree)
        path.rmdir() if what == "folder" else path.unlink()
        if before:
            path.write_bytes(before)
    assert workspaces.commit(tree, "x")[1] == 1


def test_tree_naming_another_folder_leaves_that_unread(tree, workspaces, place, tmp_path, monkeypatch):
    """It may be a file system that never answers: an agent can mount one."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "gitdir").write_text(f"{place}/.git\n")
    assert workspaces.tend(tree) == ""
    (place / ".git").write_text(f"gitdir: {elsewhere}\n")
    read: list[Path] = []
    plainly = DiskFiles.read

    def watched(self, path, *rest):
        read.append(path)
        return plainly(self, path, *rest)

    monkeypatch.setattr(DiskFiles, "read", watched)
    workspaces.tend(tree)
    assert read
    assert [path for path in read if path.is_relative_to(elsewhere)] == []


@pytest.mark.parametrize("what", ["pipe", "folder", "sparse", "link"])
def test_an_index_that_is_none_is_made_anew(repo, tree, workspaces, place, tmp_path, alarmed, what):
    (place / "new.txt").write_text("new")
    index = repo.path / ".git" / "worktrees" / place.name / "index"
    if what == "link":
        index.unlink()
        (tmp_path / "secret").write_text("secret")
        index.symlink_to(tmp_path / "secret")
    else:
        make(index, what)
    assert workspaces.look(tree)


def test_no_index_of_ours_is_written_through_a_link(repo, tree, workspaces, place, tmp_path):
    (place / "new.txt").write_text("new")
    (tmp_path / "precious").write_text("precious")
    (repo.path / ".git" / "worktrees" / place.name / "index.ours").symlink_to(tmp_path / "precious")
    assert workspaces.commit(tree, "x")[1] == 1
    assert (tmp_path / "precious").read_text() == "precious"
