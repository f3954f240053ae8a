"""What is the user's stays as it is."""

import hashlib
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.workspaces.git import GitWorkspaces

from .conftest import Repo


def own_things(repo: Repo) -> dict[str, str]:
    """Return all files of the user's tree and of its git folder that are not ours, by their hashes."""
    found = {}
    for folder, folders, files in os.walk(repo.path):
        inside = Path(folder).relative_to(repo.path)
        if str(inside) == ".git":
            folders[:] = [name for name in folders if name not in {"objects", "worktrees"}]
        for name in files:
            path = inside / name
            if "task" not in path.parts and "tasks" not in path.parts:
                found[str(path)] = hashlib.sha256((Path(folder) / name).read_bytes()).hexdigest()
    return found


@pytest.fixture
def busy(repo):
    """A user in the middle of things: staged, changed, untracked, stashed, on a branch of their own."""
    repo.git("checkout", "-qb", "feature")
    (repo.path / "readme.txt").write_text("stashed\n")
    repo.git("stash", "-q")
    (repo.path / "staged.txt").write_text("staged\n")
    repo.git("add", "staged.txt")
    (repo.path / "readme.txt").write_text("changed\n")
    (repo.path / "untracked.txt").write_text("untracked\n")
    repo.git("config", "user.nickname", "nick")
    return repo


def test_a_whole_life_changes_nothing_of_the_users(busy, tree, look, workspaces):
    before, status = own_things(busy), busy.git("status", "--porcelain")
    for attempt in (1, 2):
        place = workspaces.prepare(tree, attempt)
        (place / f"new{attempt}.txt").write_text("new")
        commit, _ = workspaces.commit(tree, "Work")
        workspaces.merge(tree, commit)
        workspaces.prepare(look, attempt)
        (place / "half.txt").write_text("half")
    workspaces.release(tree, 2)
    workspaces.release(look, 2)
    assert own_things(busy) == before
    assert busy.git("status", "--porcelain") == status
    assert busy.git("stash", "list").count("\n") == 0
    assert busy.git("fsck", "--no-dangling") == ""
    mine = {name for name in busy.refs() if not name.startswith(("refs/heads/task/", "refs/tasks/task/"))}
    assert mine == {"refs/heads/feature", "refs/heads/main", "refs/stash"}


def test_branch_checked_out_by_the_user_is_not_moved(repo, tree, workspaces, tmp_path):
    """A branch checked out by the user is not moved under their feet."""
    workspaces.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")
    commit, _ = workspaces.commit(tree, "Work")
    repo.git("worktree", "add", "-q", str(tmp_path / "second"), "task/demo")
    assert workspaces.merge(tree, commit) == (
        f"task/demo is checked out in {tmp_path}/second: switch to another branch there"
    )
    assert repo.git("status", "--porcelain", cwd=tmp_path / "second") == ""
    repo.git("worktree", "remove", str(tmp_path / "second"))
    assert workspaces.merge(tree, commit) == ""


def test_the_user_may_leave_the_tasks_branch_and_come_back(repo, tree, workspaces):
    workspaces.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")
    commit, _ = workspaces.commit(tree, "Work")
    workspaces.merge(tree, commit)
    repo.git("checkout", "-q", "task/demo")
    assert (repo.path / "new.txt").read_text() == "new"
    workspaces.prepare(tree, 2)
    (tree.path / "newer.txt").write_text("newer")
    assert workspaces.merge(tree, workspaces.commit(tree, "x")[0]).startswith("task/demo is checked out in")
    assert repo.git("status", "--porcelain") == ""


def test_branch_that_its_user_moved_on_is_kept(repo, tree, workspaces):
    workspaces.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")
    commit, _ = workspaces.commit(tree, "x")
    repo.git("checkout", "-q", "task/demo")
    repo.save({"users.txt": "users"}, "a word of the user's")
    repo.git("checkout", "-q", "main")
    assert "does not build on" in workspaces.merge(tree, commit)
    again, files = workspaces.commit(tree, "x")
    assert files == 1
    assert {"new.txt", "users.txt"} <= repo.names(again)
    assert workspaces.merge(tree, again) == ""


def test_commits_are_the_users_where_git_knows_them(repo, tree, workspaces):
    workspaces.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")
    commit, _ = workspaces.commit(tree, "x")
    assert repo.git("show", "-s", "--format=%an <%ae> %cn <%ce>", commit) == (
        "A User <user@example.org> A User <user@example.org>"
    )


@pytest.mark.parametrize(
    "text", ["", "[user]\nname = Only Name\n", "[user]\nname =\nemail =\n", "[user]\nuseConfigOnly = true\n"]
)
def test_and_ours_where_it_does_not(repo, tree, git_config, text):
    git_config.write_text(text)
    workspaces = GitWorkspaces()
    workspaces.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")
    commit, _ = workspaces.commit(tree, "x")
    who = "Agent Orchestrator <agent-orchestrator@localhost>"
    assert repo.git("show", "-s", "--format=%an <%ae> %cn <%ce>", commit) == f"{who} {who}"


def test_signing_is_not_asked_for(repo, tree, git_config):
    with git_config.open("a") as file:
        file.write("[commit]\ngpgSign = true\n[gpg]\nprogram = /bin/false\n")
    workspaces = GitWorkspaces()
    workspaces.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")
    assert workspaces.commit(tree, "x")[1] == 1


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        ("Subject\n\nBody", "Subject"),
        ("-F /etc/passwd", "-F /etc/passwd"),
        ("# not a comment", "# not a comment"),
        ("", "Work of an agent"),
        ("a\0b", "ab"),
        ("\ud800 ü", "? ü"),
        ("x" * 5000, "x" * 5000),
    ],
    ids=["plain", "option", "comment", "empty", "nul", "surrogate", "long"],
)
def test_a_message_is_taken_as_it_is(repo, tree, workspaces, message, subject):
    workspaces.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")
    commit, _ = workspaces.commit(tree, message)
    assert repo.git("show", "-s", "--format=%s", commit) == subject


def test_kept_work_survives_the_users_gc(repo, tree, workspaces):
    workspaces.prepare(tree, 1)
    (tree.path / "half.txt").write_text("half")
    workspaces.prepare(tree, 2)
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    (kept,) = repo.refs("refs/tasks/").values()
    assert repo.at(kept, "half.txt") == "half"
    workspaces.prepare(tree, 3)


def test_line_ends_of_the_users_choice(repo, git_config, tree):
    with git_config.open("a") as file:
        file.write("[core]\nautocrlf = true\n")
    workspaces = GitWorkspaces()
    workspaces.prepare(tree, 1)
    assert (tree.path / "readme.txt").read_bytes() == b"hello\r\n"
    (tree.path / "new.txt").write_bytes(b"a\r\n")
    commit, files = workspaces.commit(tree, "x")
    assert files == 1
    done = subprocess.run(
        ["git", "show", f"{commit}:new.txt"], cwd=repo.path, capture_output=True, check=True
    )
    assert done.stdout == b"a\n"
    workspaces.prepare(replace(tree, name="other"), 1)
    assert set(repo.refs("refs/tasks/")) == set()
