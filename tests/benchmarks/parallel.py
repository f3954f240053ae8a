"""Twelve independent subtasks, with 1, 2, 4 and 8 agents at once: the whole task against the work alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.large import is_complete
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.world import World, brief

SUBTASKS = 12
WIDTHS = (1, 2, 4, 8)
SECONDS = 60
"""How long the work on a subtask takes; `--runs N` takes N instead. Its tester and reviewer are done at once."""

_HASTY = Path(__file__).with_name("hasty.sh")
_ROLES = ("explore", "plan", "dev", "test", "review")


def rows(bench: Bench) -> Iterator[Row]:
    seconds = bench.runs or SECONDS
    for width in WIDTHS:
        least = -(-SUBTASKS // width) * seconds
        took = finished(bench, width, seconds, 3 * least + 60)
        yield Row(
            f"{SUBTASKS} subtasks of {seconds} s, {width} agent{'s' * (width != 1)} at once: the whole task",
            "s",
            [took],
            [SUBTASKS / width * seconds],
            f"{SUBTASKS} / {width} x {seconds} s",
            Reach(Of.RATIO, 1.3),
            note=f"{least} s if nothing but the work took time",
        )


def finished(bench: Bench, width: int, seconds: int, patience: float) -> float:
    """Return the seconds from the start of a task until it is complete."""
    with World(limits__max_concurrent_runs=width) as world:
        world.make_repository()
        world.start_daemon()
        watch = Stopwatch()
        command = f"/bin/bash {_HASTY} {SUBTASKS} {seconds}"
        task = world.start_task("parallel", brief(dict.fromkeys(_ROLES, command), "worktree"))
        while not is_complete(task):
            if (past := watch.ms / 1000) > patience:
                raise RuntimeError(f"the task was not complete after {patience:.0f} s")
            bench.progress.show(f"{width} at once, {past:.0f} s")
            time.sleep(0.05)
        return watch.ms / 1000
