"""What agents, users and killed programs leave behind in a tree or beside it."""

import os
import socket
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import OrchestratorError, Refused
from orchestrator.ports.workspaces import LeftOut
from tests.odd_files import make

from .conftest import admin

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
