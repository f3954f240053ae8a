"""Boxes that a deleted task left unclean are cleaned up later; one that is here again does so itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestrator import layout
from orchestrator.daemon.boxes.cleanup_queue import FIRST
from orchestrator.daemon.boxes.departed_tasks import DepartedTasks, write_departed
from orchestrator.daemon.core.worker_pool import InlineExecutor
from orchestrator.model.errors import Unavailable
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.memory_files import MemoryFiles

STATE = Path("/pm")
TASK = "t-1"
HOME = layout.task_home(STATE, TASK)


@dataclass
class Bench:
    """All boxes, made up; `away` are those that nobody reaches."""

    files: MemoryFiles = field(default_factory=MemoryFiles)
    clock: FakeClock = field(default_factory=FakeClock)
    away: set[str] = field(default_factory=set)
    left: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.files.make_folder(STATE)
        self.begin()

    def begin(self) -> None:
        """Begin as a daemon does that knows nothing but what is on the disk."""
        context = SimpleNamespace(
            adapters=SimpleNamespace(files=self.files, boxes=self),
            clock=self.clock,
            executor_for=lambda *_: InlineExecutor(),
            state_folder=STATE,
        )
        self.departed = DepartedTasks(cast("Any", context))

    def leave(self, box: str, task: str) -> None:
        if box in self.away:
            raise Unavailable(f"{box} is away")
        self.left.append((box, task))

    @property
    def notes(self) -> list[str]:
        return self.files.names(layout.boxes_departed(STATE))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_box_away_is_cleaned_up_once_it_is_back(bench: Bench) -> None:
    bench.away.add("alpha")
    write_departed(bench.files, STATE, TASK, {"alpha": "r1", "beta": "r2"})
    bench.departed.look()
    bench.departed.look()
    assert bench.left == [("beta", TASK)]
    bench.away.clear()
    bench.clock.sleep(FIRST)
    bench.departed.look()
    assert bench.left == [("beta", TASK), ("alpha", TASK)]
    assert bench.notes == []
    bench.departed.look()
    assert len(bench.left) == 2


def test_next_daemon_repeats_only_what_is_left(bench: Bench) -> None:
    bench.away.add("alpha")
    write_departed(bench.files, STATE, TASK, {"alpha": "r1", "beta": "r2"})
    bench.departed.look()
    bench.begin()
    bench.away.clear()
    bench.departed.look()
    assert bench.left == [("beta", TASK), ("alpha", TASK)]


def test_task_that_is_here_cleans_up_itself(bench: Bench) -> None:
    """It was restored, or never left: the command was cut off between the note and the mark."""
    write_departed(bench.files, STATE, TASK, {"alpha": "r1"})
    bench.files.make_folder(HOME)
    bench.departed.look()
    assert (bench.left, bench.notes) == ([], [])


def test_task_that_is_being_removed_is_not_here(bench: Bench) -> None:
    write_departed(bench.files, STATE, TASK, {"alpha": "r1"})
    bench.files.make_folder(HOME)
    bench.files.write(layout.task_leaving(HOME), b"{}")
    bench.departed.look()
    assert bench.left == [("alpha", TASK)]


def test_task_without_boxes_leaves_no_note(bench: Bench) -> None:
    write_departed(bench.files, STATE, TASK, {})
    bench.departed.look()
    assert bench.notes == []
