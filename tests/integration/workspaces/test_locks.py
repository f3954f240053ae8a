"""Locks that a git left behind: told from those that may be held, and never removed where that is not known."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

import pytest

from orchestrator.cli.diagnosis import findings
from orchestrator.cli.machine_probe import examine
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.workspaces import locks
from orchestrator.workspaces.locks import LONGEST_HELD, Locked, look_at

HOUR = 3600.0
OUR_REF = "refs/heads/task-work/demo/parser.lock"


def lock_in(repo, name: str, age: float = HOUR) -> Path:
    path: Path = repo.path / ".git" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time.time() - age,) * 2)
    return path


@contextmanager
def at_work(*words: str, cwd: Path | None = None, stdin: IO[str] | int = subprocess.PIPE) -> Iterator[int]:
    with subprocess.Popen(words, cwd=cwd, stdin=stdin) as child:
        try:
            yield child.pid
        finally:
            child.kill()


def git_at_work(cwd: Path) -> AbstractContextManager[int]:
    """Let a git live in a folder that holds no lock, as far as can be seen from outside."""
    return at_work("git", "cat-file", "--batch", cwd=cwd)


def changed(tree, workspaces) -> None:
    workspaces.prepare(tree, 1)
    (tree.path / "new.txt").write_text("new")


def test_stale_lock_of_our_own_ref_is_removed(repo, tree, workspaces) -> None:
    changed(tree, workspaces)
    path = lock_in(repo, OUR_REF)
    assert workspaces.commit(tree, "x")[1] == 1
    assert not path.exists()


def test_stale_lock_of_the_repository_is_named_and_stays(repo, tree, workspaces) -> None:
    """It may be anybody's: its user removes it, and the same call then goes on."""
    workspaces.prepare(tree, 1)
    path = lock_in(repo, "packed-refs.lock")
    with pytest.raises(Refused, match=f"rm {path}"):
        workspaces.release(tree, 1)
    path.unlink()
    workspaces.release(tree, 1)


def test_young_lock_is_waited_for(repo, tree, workspaces) -> None:
    changed(tree, workspaces)
    path = lock_in(repo, OUR_REF, age=5)
    with pytest.raises(Locked, match=r"parser\.lock is young"):
        workspaces.commit(tree, "x")
    assert path.exists()


def seen_for_long(path: Path) -> None:
    """Let a lock that was written just now be one that was seen first two minutes ago."""
    found = path.lstat()
    locks._first_seen[found.st_dev, found.st_ino] = time.monotonic() - 2 * LONGEST_HELD


@pytest.mark.parametrize("where", ["project", "tree", "git folder"])
def test_old_lock_that_a_git_may_hold_is_waited_for(repo, tree, workspaces, where) -> None:
    """A git closes its lock, and keeps it while an editor or a hook runs: that it lives in the repository is enough."""
    changed(tree, workspaces)
    places = {"project": repo.path, "tree": tree.path, "git folder": repo.path / ".git"}
    with git_at_work(places[where]) as pid:
        path = lock_in(repo, OUR_REF, age=0)
        seen_for_long(path)
        with pytest.raises(Locked, match=rf"process {pid} \(git\)"):
            workspaces.commit(tree, "x")
        assert path.exists()
    assert workspaces.commit(tree, "x")[1] == 1
    assert not path.exists()


def test_lock_that_somebody_has_open_is_waited_for(repo, tree, workspaces) -> None:
    """Whatever its name is, and however old the lock."""
    changed(tree, workspaces)
    path = lock_in(repo, OUR_REF)
    with (
        path.open() as held,
        at_work("sleep", "600", stdin=held) as pid,
        pytest.raises(Locked, match=f"{pid}"),
    ):
        workspaces.commit(tree, "x")
    assert workspaces.commit(tree, "x")[1] == 1


def test_git_of_another_repository_holds_nothing(repo, tree, workspaces, tmp_path) -> None:
    other = type(repo)(tmp_path / "other").start()
    with git_at_work(other.path):
        path = lock_in(repo, "packed-refs.lock", age=0)
        seen_for_long(path)
        seen = look_at(path)
        assert seen is not None
        assert seen.is_stale(LONGEST_HELD)


def test_git_that_began_after_a_lock_does_not_hold_it(repo) -> None:
    path = lock_in(repo, "index.lock")
    with git_at_work(repo.path):
        seen = look_at(path)
        assert seen is not None
        assert seen.is_stale(LONGEST_HELD)


def test_lock_from_the_future_is_timed_since_it_was_seen(repo) -> None:
    path = lock_in(repo, "index.lock", age=-HOUR)
    seen = look_at(path)
    assert seen is not None
    assert not seen.is_stale(LONGEST_HELD)
    seen_for_long(path)
    seen = look_at(path)
    assert seen is not None
    assert seen.is_stale(LONGEST_HELD)


def test_lock_of_a_tree_stays_while_a_git_works_in_it(repo, tree, workspaces) -> None:
    """A git that its agent left behind would go on with an index that another one writes."""
    changed(tree, workspaces)
    with git_at_work(tree.path) as pid:
        path = lock_in(repo, "worktrees/parser/index.lock", age=0)
        with pytest.raises(Unavailable, match=f"process {pid}"):
            workspaces.prepare(tree, 2)
        assert path.exists()
    workspaces.prepare(tree, 2)
    assert not path.exists()


def test_doctor_names_a_stale_lock(repo, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(tmp_path / "state"))
    path = lock_in(repo, "packed-refs.lock")
    young = lock_in(repo, "index.lock", age=1)
    seen = examine(repo.path, os.environ, lambda _: None)
    said = [each for each in findings(seen) if each.topic == "project" and each.fix]
    assert [each.fix for each in said] == [f"rm {path}"]
    assert str(young) not in said[0].text
