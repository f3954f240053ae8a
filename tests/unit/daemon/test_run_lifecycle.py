"""What became of a run that the state believes to live, by what lies on disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from orchestrator.daemon.ingest.run_lifecycle import facts_of
from orchestrator.hosts.claims import BEGUN, CLAIMED
from orchestrator.model.facts import RunGone, RunQueued, RunStarted
from orchestrator.model.limits import Limits
from orchestrator.model.run import Exit
from orchestrator.ports.host import Observation, Standing
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import Story

HOME = Path("/pm/tasks/t-1")


@dataclass
class Host:
    """A host that sees no file of the run."""

    seen: Observation

    def observe(self, folder: Path) -> Observation:
        return self.seen


@dataclass
class Slow:
    """A host on which a launcher comes on between two looks, or does not."""

    looks: list[Observation]

    def observe(self, folder: Path) -> Observation:
        return self.looks.pop(0)


def test_run_without_files_after_a_power_cut_is_lost():
    """It is never launched again."""
    story = Story()
    story.starts()
    run = story.comes_alive("explore")
    files = MemoryFiles()
    files.make_folder(HOME)
    host = cast("Any", Host(Observation(Standing.NOT_CLAIMED)))
    (gone,) = facts_of(files, host, HOME, run, story.at, Limits())
    assert isinstance(gone, RunGone)
    assert gone.exit == Exit(lost=True)
    assert files.entry(HOME / "runs" / run.id / CLAIMED) is not None
    assert facts_of(files, host, HOME, run, story.at, Limits()) == []


@pytest.mark.parametrize("then", [Standing.CLAIMED, Standing.ALIVE, Standing.GONE])
def test_claimed_run_without_a_pid_is_lost(then):
    """Unless its pid is written first."""
    story = Story()
    story.starts()
    run = story.run_of("explore")
    files = MemoryFiles(now=lambda: story.at - Limits().start_timeout)
    folder = HOME / "runs" / run.id
    files.make_folder(folder)
    files.create(folder / CLAIMED, b"")
    host = cast("Any", Slow([Observation(Standing.CLAIMED), Observation(then)]))
    facts = facts_of(files, host, HOME, run, story.at, Limits())
    assert [type(fact) for fact in facts] == ([RunGone] if then is Standing.CLAIMED else [])
    assert files.entry(folder / BEGUN) is not None


def test_run_in_a_queue_is_neither_begun_nor_late():
    """Why it waits is a fact once; when it has a place, it begins."""
    story = Story()
    story.starts()
    run = story.run_of("explore")
    files, late = MemoryFiles(), story.at + 10 * Limits().start_timeout
    waits = cast("Any", Host(Observation(Standing.ALIVE, queued="Resources")))
    (queued,) = facts_of(files, waits, HOME, run, late, Limits())
    assert queued == RunQueued(late, run.id, "Resources")
    story.feed(queued)
    assert facts_of(files, waits, HOME, story.state.runs[run.id], late, Limits()) == []
    placed = cast("Any", Host(Observation(Standing.ALIVE, 7, "%1")))
    assert facts_of(files, placed, HOME, story.state.runs[run.id], late, Limits()) == [
        RunStarted(late, run.id, 7, "%1")
    ]
