"""Calls cut off between any two git commands, or in the middle of one, and made again (law 4)."""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from orchestrator.model.errors import Unavailable
from orchestrator.workspaces.git import GitWorkspaces
from orchestrator.workspaces.process import Git

from .conftest import KEPT, Repo


class Killed(BaseException):
    """The daemon dies here."""


@pytest.fixture
def die_at(monkeypatch):
    """Let the caller be killed before git command number `n`, or behind it."""
    run = Git.run

    def arm(n, *, behind):
        count = 0

        def counted(self, *arguments, **more):
            nonlocal count
            count += 1
            if count == n and not behind:
                raise Killed
            answer = run(self, *arguments, **more)
            if count == n:
                raise Killed
            return answer

        monkeypatch.setattr(Git, "run", counted)

    def disarm():
        monkeypatch.setattr(Git, "run", run)

    arm.disarm = disarm
    return arm


def swept(die_at, call, *, behind):
    """Call with a kill at each git command in turn, and once more to its end; yield after each such pair."""
    for n in range(1, 60):
        die_at(n, behind=behind)
        try:
            call(n)
        except Killed:
            die_at.disarm()
            yield n, call(n)
        else:
            die_at.disarm()
            assert n > 5
            return
    pytest.fail("it never came to an end")


@pytest.mark.parametrize("behind", [False, True])
def test_prepare(repo, tree, workspaces, die_at, behind):
    def call(n):
        return workspaces.prepare(replace(tree, name=f"t{n}"), 1)

    for _, path in swept(die_at, call, behind=behind):
        assert repo.git("status", "--porcelain", "--ignored", cwd=path) == ""
        assert repo.git("rev-parse", "HEAD", cwd=path) == tree.base
    assert repo.refs("refs/tasks/") == {}


@pytest.mark.parametrize("behind", [False, True])
def test_prepare_of_a_tree_with_work_in_it(repo, tree, workspaces, die_at, behind):
    def call(n):
        each = replace(tree, name=f"t{n}")
        if not each.path.exists():
            with pytest.MonkeyPatch.context():
                run = Git.run
                die_at.disarm()
                workspaces.prepare(each, 1)
                (each.path / "committed.txt").write_text("committed")
                workspaces.commit(each, "x")
                (each.path / "half.txt").write_text("half")
                Git.run = run
        return workspaces.prepare(each, 2)

    for n, path in swept(die_at, call, behind=behind):
        assert repo.git("status", "--porcelain", "--ignored", cwd=path) == ""
        assert repo.git("rev-parse", "HEAD", cwd=path) == tree.base
        kept = repo.refs(f"refs/tasks/task/demo/t{n}/").values()
        assert any({"committed.txt", "half.txt"} <= repo.names(commit) for commit in kept)


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize("beside", [False, True])
def test_commit_and_merge(repo, tree, workspaces, die_at, behind, beside):
    workspaces.prepare(tree, 1)
    ready = [replace(tree, name=f"t{n}") for n in range(60 if beside else 0)]
    for each in ready[:45]:
        workspaces.prepare(each, 1)
    if beside:  # the task's branch moves on while the others work
        (tree.path / "first.txt").write_text("first")
        workspaces.merge(tree, workspaces.commit(tree, "first")[0])

    def call(n):
        each = replace(tree, name=f"t{n}" if beside else "parser", branch="task/demo")
        (each.path / f"new{n}.txt").write_text("new")
        commit, files = workspaces.commit(each, "Work")
        return each, commit, files

    for n, (each, commit, files) in swept(die_at, call, behind=behind):
        tip = repo.refs("refs/heads/task/demo")["refs/heads/task/demo"]
        assert repo.git("rev-parse", f"{commit}^") == tip
        assert repo.git("status", "--porcelain", cwd=each.path) == ""
        assert f"new{n}.txt" in repo.names(commit)
        assert files == (1 if beside else n)
        assert ("first.txt" in repo.names(commit)) == beside
    assert repo.refs("refs/tasks/") == {}


@pytest.mark.parametrize("behind", [False, True])
def test_merge(repo, tree, workspaces, die_at, behind):
    workspaces.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")
    commit, _ = workspaces.commit(tree, "x")
    for n in range(1, 20):
        repo.git("update-ref", "refs/heads/task/demo", tree.base)
        die_at(n, behind=behind)
        try:
            assert workspaces.merge(tree, commit) == ""
            break
        except Killed:
            die_at.disarm()
            assert workspaces.merge(tree, commit) == ""
            assert repo.refs("refs/heads/task/demo")["refs/heads/task/demo"] == commit
    assert n > 4


@pytest.mark.parametrize("behind", [False, True])
def test_release(repo, tree, workspaces, die_at, behind):
    for n in range(1, 60):
        workspaces.prepare(tree, n)
        (tree.path / "half.txt").write_text(f"half {n}")
        die_at(n, behind=behind)
        try:
            workspaces.release(tree, n)
        except Killed:
            die_at.disarm()
            workspaces.release(tree, n)
        else:
            break
        assert not tree.path.exists()
        assert not list((repo.path / ".git" / "worktrees").glob("*"))
        assert any(repo.at(commit, "half.txt") == f"half {n}" for commit in repo.refs(KEPT).values())
    assert n > 8


def test_a_git_that_hangs_is_killed_with_what_it_started(tree, workspaces, tmp_path, repo, git_config):
    shim = tmp_path / "bin"
    shim.mkdir()
    (shim / "git").write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/pid\nwait\n")
    (shim / "git").chmod(0o755)
    environ = {"PATH": f"{shim}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": str(git_config)}
    slow = GitWorkspaces(0.3, environ=environ)
    began = time.monotonic()
    with pytest.raises(Unavailable, match="`git rev-parse` in .* did not end within 0.3 seconds"):
        slow.head(repo.path)
    assert time.monotonic() - began < 5
    assert not alive(int((tmp_path / "pid").read_text()))


def alive(pid: int) -> bool:
    try:
        return "Z" not in open(f"/proc/{pid}/stat").read().split(")")[1].split()[0]
    except FileNotFoundError:
        return False
