"""The windows of a task that ended are closed on each of its boxes once, though a box was away and the daemon ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestrator.daemon.boxes.box_cleanup import BoxCleanup
from orchestrator.daemon.boxes.cleanup_queue import FIRST, LONGEST
from orchestrator.daemon.core.worker_pool import InlineExecutor
from orchestrator.model.errors import Unavailable
from orchestrator.pm.state.task_state import PMState
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.memory_files import MemoryFiles

HOME = Path("/pm/tasks/t-1")


@dataclass
class Bench:
    """The boxes of one task, all made up; `away` are those that nobody reaches."""

    files: MemoryFiles = field(default_factory=MemoryFiles)
    clock: FakeClock = field(default_factory=FakeClock)
    away: set[str] = field(default_factory=set)
    left: list[tuple[str, str]] = field(default_factory=list)
    tries: int = 0

    def __post_init__(self) -> None:
        self.files.make_folder(HOME)
        self.begin()

    def begin(self) -> None:
        """Begin as a daemon does that knows nothing but what is on the disk."""
        context = SimpleNamespace(
            adapters=SimpleNamespace(files=self.files, boxes=self),
            clock=self.clock,
            executor_for=lambda *_: InlineExecutor(),
        )
        self.boxes_left = BoxCleanup(cast("Any", context), HOME)

    def leave(self, box: str, task: str) -> None:
        self.tries += 1
        if box in self.away:
            raise Unavailable(f"{box} is away")
        self.left.append((box, task))


def ended(*runs: tuple[str, str]) -> PMState:
    """Return what is asked of the state of a task whose runs were on these hosts."""
    known = {name: SimpleNamespace(id=name, host=host, on_box=bool(host)) for name, host in runs}
    return cast("PMState", SimpleNamespace(runs=known))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_each_box_is_left_once_and_this_machine_is_none(bench: Bench) -> None:
    state = ended(("r1", "alpha"), ("r2", ""), ("r3", "beta"), ("r4", "alpha"))
    for _ in range(3):
        bench.boxes_left.leave_all(state)
    assert bench.left == [("alpha", "t-1"), ("beta", "t-1")]


def test_restart_repeats_nothing_and_later_run_is_left_again(bench: Bench) -> None:
    bench.boxes_left.leave_all(ended(("r1", "alpha")))
    bench.begin()
    bench.boxes_left.leave_all(ended(("r1", "alpha")))
    assert bench.left == [("alpha", "t-1")]
    bench.boxes_left.leave_all(ended(("r1", "alpha"), ("r2", "alpha")))
    assert bench.left == [("alpha", "t-1")] * 2


def test_box_away_is_tried_again_at_growing_intervals(bench: Bench) -> None:
    bench.away.add("alpha")
    state = ended(("r1", "alpha"), ("r2", "beta"))
    bench.boxes_left.leave_all(state)
    bench.boxes_left.leave_all(state)
    assert (bench.left, bench.tries) == ([("beta", "t-1")], 2)
    for tries, pause in ((3, FIRST), (4, FIRST * 2)):
        bench.clock.sleep(pause)
        bench.boxes_left.leave_all(state)
        assert bench.tries == tries
    bench.away.clear()
    bench.clock.sleep(LONGEST)
    bench.boxes_left.leave_all(state)
    assert bench.left[1:] == [("alpha", "t-1")]


def test_box_away_is_left_by_the_next_daemon(bench: Bench) -> None:
    bench.away.add("alpha")
    bench.boxes_left.leave_all(ended(("r1", "alpha")))
    bench.begin()
    bench.away.clear()
    bench.boxes_left.leave_all(ended(("r1", "alpha")))
    assert bench.left == [("alpha", "t-1")]


@pytest.mark.parametrize("text", [b"", b"[]", b"\xff", b'{"alpha": 1}'])
def test_note_that_does_not_read_leaves_the_box_again(bench: Bench, text: bytes) -> None:
    bench.files.write(HOME / "boxes-left.json", text)
    bench.boxes_left.leave_all(ended(("r1", "alpha")))
    assert bench.left == [("alpha", "t-1")]
