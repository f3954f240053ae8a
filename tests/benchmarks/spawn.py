"""One agent more, where one works and where 200 do: from the user's word until its process lives."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator import layout
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.resting import SETTINGS, rest
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.waiting import until
from tests.benchmarks.world import Begun, World


def rows(bench: Bench) -> Iterator[Row]:
    with World(**SETTINGS) as world:
        task = rest(world, 1)
        few = [spawned(task) for _ in bench.times(10, "spawns beside one")]
        begun = 1 + len(few)
        for number in range(begun, bench.agents):
            bench.progress.show(f"{number} of {bench.agents} agents")
            spawned(task)
        many = [spawned(task) for _ in bench.times(10, f"spawns beside {bench.agents}")]
    yield Row(
        f"spawn beside {max(begun, bench.agents)} agents",
        "ms",
        many,
        few,
        f"the same beside 1 to {begun - 1}",
        Reach(Of.RATIO, 1.5),
        note="flat is 1",
    )


def spawned(task: Begun) -> float:
    """Return the milliseconds until one more agent lives."""
    runs = layout.task_runs(task.home)
    before = {path.name for path in runs.iterdir()}
    watch = Stopwatch()
    task.ask("spawn", agent="dev", instructions="Rest.")
    new = until(
        lambda: next((path.name for path in runs.iterdir() if path.name not in before), ""), "a new run"
    )
    until((runs / new / "pid").exists, "its process")
    return watch.ms
