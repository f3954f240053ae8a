"""What a daemon spends on the tasks of last year: they are over, and shelved."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from orchestrator import layout
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.idle import pid_of, resident
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.waiting import until
from tests.benchmarks.world import World, brief

TASKS = 1000
SOON = {
    "daemon__passivate_after": "100 ms",
    "logs__pack_after": "100 ms",
    "limits__check_in_interval": "200 ms",
}
"""Only until there is one: the daemons that are measured have the usual settings."""


def rows(bench: Bench) -> Iterator[Row]:
    with World(**SOON) as first, World() as full, World() as empty:
        bench.progress.show("a task is shelved")
        home = shelved(first)
        first.stop_daemon()
        for number in range(TASKS):
            bench.progress.show(f"laying down tasks, {number + 1:,} of {TASKS:,}")
            shutil.copytree(home, layout.task_home(full.state, f"old-{number:08x}"))
        what = f"restart, {TASKS:,} tasks that are over"
        taken = dict[World, list[float]]({full: [], empty: []})
        for _ in bench.times(5, what):
            for world, times in taken.items():
                watch = Stopwatch()
                world.start_daemon()
                times.append(watch.ms)
                world.stop_daemon()
        yield Row(what, "ms", taken[full], taken[empty], "a daemon with no task", Reach(Of.MEDIAN, 2000))
        for world in (full, empty):
            world.start_daemon()
        held = f"held for {TASKS:,} tasks that are over"
        for unit, measured, most in (("threads", threads, 1), ("files", files, 1), ("MB", megabytes, 1.5)):
            floor = [measured(empty)]
            yield Row(held, unit, [measured(full)], floor, "a daemon with no task", Reach(Of.RATIO, most))


def shelved(world: World) -> Path:
    """Let a task begin and be stopped, and return its folder when it is shelved."""
    world.make_repository()
    world.start_daemon()
    task = world.start_task("measure", brief({}, "worktree"))
    task.first_run()
    task.ask("stop")
    until(lambda: layout.task_passivated(task.home).exists(), "a shelved task", world.complaint)
    return task.home


def threads(world: World) -> float:
    return float(sum(1 for _ in Path(f"/proc/{pid_of(world)}/task").iterdir()))


def files(world: World) -> float:
    return float(sum(1 for _ in Path(f"/proc/{pid_of(world)}/fd").iterdir()))


def megabytes(world: World) -> float:
    return resident(pid_of(world))
