"""A handoff renamed into place, until its line stands in the journal."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from orchestrator import layout
from orchestrator.formats.handoff import handoff_name, render_report
from orchestrator.model.handoff import Report, ReportStatus
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.floors import LISTENER_IS, listening
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.world import World, brief

INSTANCE = "explore"
GAPS = (0.01, 0.04)
"""Seconds between two handoffs: by then the daemon has written what others read, and rests."""


def rows(bench: Bench) -> Iterator[Row]:
    measured, floor = list[float](), list[float]()
    with World() as world, listening(world.root / "floor") as listener:
        world.start_daemon()
        task = world.start_task("measure", brief({}, "shared"))
        with task.tail() as journal:
            run = task.first_run()
            outside = layout.scratchpad(task.folder) / "new.md"
            begin = time.time()
            for number in bench.times(250, "handoffs"):
                text = report(run, number, begin + number)
                floor.append(listener.once(number, text))
                time.sleep(random.uniform(*GAPS))
                journal.skip()
                outside.write_bytes(text)
                name = handoff_name(INSTANCE, begin + number)
                renamed, watch = time.time_ns(), Stopwatch()
                outside.rename(layout.handoffs(task.folder) / name)
                line = journal.next()
                if line.fact.get("name") != name:
                    raise RuntimeError(
                        f"{name} was renamed into place {watch.ms} ms ago, and this came: {line}"
                    )
                measured.append((line.seen - renamed) / 1e6)
    yield Row(
        "handoff in place → decided and journaled",
        "ms",
        measured,
        floor,
        LISTENER_IS,
        Reach(Of.P99, 10),
    )


def report(run: str, number: int, at: float) -> bytes:
    """Return a report that nothing follows from."""
    reported = Report(ReportStatus.IN_PROGRESS, run=run, completed=f"Part {number} of the work is under way.")
    return render_report(INSTANCE, at, reported).encode()
