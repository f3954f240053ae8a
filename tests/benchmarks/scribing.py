"""The scribe: one new handoff among many old ones, until progress.md tells of it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from orchestrator import places
from orchestrator.formats.handoff import handoff_name
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.task import Phase, TaskState
from orchestrator.scribe.progress import Milestone, PMView
from orchestrator.scribe.scribe import Scribe
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.floors import durable_write
from tests.benchmarks.handoff import INSTANCE, report
from tests.benchmarks.row import Of, Reach, Row

OLD = (100, 10_000, 30_000)


def rows(bench: Bench) -> Iterator[Row]:
    few = 0.0
    for old in OLD:
        measured, floor = among(bench, old)
        row = Row(
            f"scribe: one new handoff among {old:,}",
            "ms",
            measured,
            floor,
            "one read, one durable write",
            Reach(Of.MEDIAN, 5),
        )
        few = few or row.median
        yield row
        if old == max(OLD):
            yield Row(
                f"scribe: {old:,} handoffs over {min(OLD):,}",
                "×",
                [row.median / few],
                reach=Reach(Of.MEDIAN, 1.5),
                note="flat means 1",
            )


def among(bench: Bench, old: int) -> tuple[list[float], list[float]]:
    """Return what the scribe took for each of some new handoffs, and the floor."""
    measured, floor = list[float](), list[float]()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        task, begin = Path(folder), time.time() - old - 1000
        handoffs, progress = places.handoffs(task), places.task_progress(task)
        handoffs.mkdir()
        for number in range(old):
            if number % 1000 == 0:
                bench.progress.tell(f"laying down {number:,} of {old:,} handoffs")
            name = handoff_name(INSTANCE, begin + number)
            (handoffs / name).write_bytes(report("r-00000000", number, begin + number))
        scribe = Scribe(DiskFiles(), task)
        scribe.rescan(view(begin), time.time())
        for number in bench.times(40, f"new ones among {old:,}"):
            name = handoff_name(INSTANCE, begin + old + number)
            (handoffs / name).write_bytes(report("r-00000000", number, begin + old + number))
            watch = Stopwatch()
            (handoffs / name).read_bytes()
            durable_write(task / "floor.md", progress.read_bytes())
            floor.append(watch.ms)
            watch = Stopwatch()
            scribe.notice([name], view(begin), time.time())
            measured.append(watch.ms)
    return measured, floor


def view(last_checkin: float) -> PMView:
    """Return what the PM says: the last check-in is so long ago that all the handoffs are news."""
    milestones = tuple(Milestone(f"Do part {n}", "pending") for n in range(20))
    return PMView("measure", Phase.DEVELOPING, TaskState.RUNNING, last_checkin, milestones, steps=62, runs=1)
