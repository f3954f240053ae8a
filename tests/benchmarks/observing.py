"""The observer over thirty days of ten thousand handoffs, as `task observe` runs it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.formats.coordination.handoff import render_handoff
from orchestrator.formats.coordination.records import render_chain
from orchestrator.model.coordination import Transition, iso
from orchestrator.records.chains import chain_of
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.status import TASK
from tests.unit.records.pipelines import BEGAN, LEAK, handed_on

DAYS = 30
TASKS = 2500
"""Each of four handoffs and a chain."""

_STEPS = (Transition.IMPLEMENT, Transition.AUDIT, Transition.CLEAN_UP, Transition.COMPLETE)


def rows(bench: Bench) -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        bench.progress.show("laying down an archive")
        lay_down(Path(folder) / "data" / "handoffs")
        (Path(folder) / "state").mkdir(mode=0o700)
        environ = {
            **os.environ,
            "ORCHESTRATOR_HOME": f"{folder}/state",
            "ORCHESTRATOR_DATA": f"{folder}/data",
        }
        what = f"task observe: {DAYS} days, {len(_STEPS) * TASKS:,} handoffs"
        observe = [str(TASK), "observe", "--date", "2025-12-11", "--days", str(DAYS), "--details"]
        yield Row(
            what,
            "ms",
            list(_timed(bench, what, observe, environ, folder)),
            list(_timed(bench, "task list", [str(TASK), "list"], environ, folder)),
            "task list",
            Reach(Of.MEDIAN, 1000),
        )


def lay_down(root: Path) -> None:
    """Write an archive of thirty days, up to 11 December 2025."""
    for task in range(TASKS):
        name, first = f"task_{task}", -(task % DAYS) * 24 * 60
        handoffs = [
            handed_on(10 * task + number, each, first + 30 * (number + 1), LEAK, task=name)
            for number, each in enumerate(_STEPS)
        ]
        chain = chain_of(name, handoffs, (), BEGAN + 60 * first, None)
        day = root / iso(BEGAN + 60 * first)[:10]
        day.mkdir(parents=True, exist_ok=True)
        for each in handoffs:
            (day / f"{each.head.id}.json").write_bytes(render_handoff(each))
        (day / f"{chain.id}.json").write_bytes(render_chain(chain))


def _timed(
    bench: Bench, what: str, command: list[str], environ: dict[str, str], folder: str
) -> Iterator[float]:
    for _ in bench.times(7, what):
        watch = Stopwatch()
        subprocess.run(command, env=environ, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        yield watch.ms
