"""First the journal, then the actions (law 3)."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.journal.engine import Engine
from orchestrator.model.facts import TaskStarted
from orchestrator.model.limits import Limits
from orchestrator.model.task import Brief
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import ROLES

BRIEF = Brief(title="T", goal="G", criteria=("c",))
HOME = Path("/state/tasks/demo-0a1b2c3d")
STARTED = TaskStarted(1.0, "n", "req-1", HOME.name, "demo", "/p", BRIEF, ROLES, base="b")


def test_action_is_carried_out_once_and_after_it_is_durable():
    """A power cut right behind the action must not take the line that tells of it."""
    files = MemoryFiles()
    found = []

    def act(_, action):
        files.crash(power=True)
        folder = layout.task_journal(HOME)
        found.append([action.id.encode() in files.read(folder / name) for name in files.names(folder)])

    Engine(files, HOME, Limits(), act).feed(STARTED)
    assert found == [[True]]


def test_nothing_is_done_that_could_not_be_journaled():
    files, acted = MemoryFiles(), []
    engine = Engine(files, HOME, Limits(), lambda _, action: acted.append(action))

    def full(step, path):
        if "journal" in path.parts:
            raise OSError(errno.ENOSPC, "full", str(path))

    files.before = full
    with pytest.raises(OSError, match="full"):
        engine.feed(STARTED)
    assert acted == []
    assert not engine.state.id
