"""The scribe: one new handoff among many old ones, until progress.md tells of it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator import layout
from orchestrator.formats.handoff import handoff_name
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.task import Phase, TaskState
from orchestrator.scribe.content import Milestone, PMView
from orchestrator.scribe.scribe import Scribe
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.floors import durable_write
from tests.benchmarks.handoff import INSTANCE, report
from tests.benchmarks.row import Of, Reach, Row

OLD = (100, 10_000, 30_000)


@dataclass
class Desk:
    """A scribe, the task's folder with its old handoffs, and what each new one took."""

    old: int
    task: Path
    scribe: Scribe
    begin: float
    measured: list[float] = field(default_factory=list)
    floor: list[float] = field(default_factory=list)

    def take_in(self, number: int) -> None:
        """Lay down a new handoff and have it told in progress.md."""
        at = self.begin + self.old + number
        path = layout.handoffs(self.task) / handoff_name(INSTANCE, at)
        path.write_bytes(report("r-00000000", number, at))
        watch = Stopwatch()
        path.read_bytes()
        durable_write(self.task / "floor.md", layout.task_progress(self.task).read_bytes())
        self.floor.append(watch.ms)
        watch = Stopwatch()
        written = self.scribe.notice([path.name], view(self.begin), time.time())
        self.measured.append(watch.ms)
        if not written:
            raise RuntimeError(f"{path.name} was not told in progress.md")


def rows(bench: Bench) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        desks = [furnished(bench, Path(folder, str(old)), old) for old in OLD]
        for number in bench.times(40, "new handoffs"):
            for desk in desks:
                desk.take_in(number)
    for desk in desks:
        yield Row(
            f"scribe: one new handoff among {desk.old:,}",
            "ms",
            desk.measured,
            desk.floor,
            "one read, one durable write",
            Reach(Of.MEDIAN, 5),
        )
    few, many = desks[0], desks[-1]
    yield Row(
        f"scribe: among {many.old:,}, against {few.old:,}",
        "ms",
        many.measured,
        few.measured,
        f"the same among {few.old:,}",
        Reach(Of.RATIO, 1.5),
        note="flat is 1",
    )


def furnished(bench: Bench, task: Path, old: int) -> Desk:
    """Lay down old handoffs, and let a scribe read them."""
    begin = time.time() - old - 1000
    layout.handoffs(task).mkdir(parents=True)
    for number in range(old):
        if number % 1000 == 0:
            bench.progress.show(f"laying down {number:,} of {old:,} handoffs")
        path = layout.handoffs(task) / handoff_name(INSTANCE, begin + number)
        path.write_bytes(report("r-00000000", number, begin + number))
    scribe = Scribe(DiskFiles(), task)
    scribe.rescan(view(begin), time.time())
    return Desk(old, task, scribe, begin)


def view(last_checkin: float) -> PMView:
    """Return what the PM says: the last check-in is so long ago that all the handoffs are news."""
    milestones = tuple(Milestone(f"Do part {n}", "pending") for n in range(20))
    return PMView("measure", Phase.DEVELOPING, TaskState.RUNNING, last_checkin, milestones, runs=1)
