"""A check-in with no news: asked for as `task checkin` asks, until its reply is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orchestrator import places
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.floors import LISTENER_IS, listening
from tests.benchmarks.resting import SETTINGS, rest
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.world import World


def rows(bench: Bench) -> Iterator[Row]:
    measured, floor = list[float](), list[float]()
    with World(**SETTINGS) as world, listening(world.root / "floor") as listener:
        bench.progress.tell(f"{bench.agents} agents begin")
        task = rest(world, bench.agents)
        for _ in range(2):  # the first one takes note of what the agents' beginning left
            task.ask("checkin")
        before = written(task.home)
        for number in bench.times(50, "check-ins"):
            floor.append(listener.once(number, b"a request"))
            watch = Stopwatch()
            task.ask("checkin")
            measured.append(watch.ms)
        grown = written(task.home) - before
    yield Row(
        f"check-in with no news, {bench.agents} agents, with request and reply",
        "ms",
        measured,
        floor,
        LISTENER_IS,
        Reach(Of.MEDIAN, 5),
        note=f"the journal and the PM's log grew by {grown} bytes",
    )
    yield Row("bytes appended by these check-ins", "bytes", [grown], reach=Reach(Of.MEDIAN, 0))


def written(home: Path) -> int:
    """Return how many bytes the journal and the log of a task have."""
    files = [*places.task_journal(home).iterdir(), places.task_log(home)]
    return sum(path.stat().st_size for path in files)
