"""A daemon that starts with a long journal, until its first beat: then it has caught up."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from orchestrator import layout
from orchestrator.daemon.journal.engine import Engine
from orchestrator.formats.handoff import handoff_name, read_report
from orchestrator.hosts.disk import DiskFiles, DiskLog
from orchestrator.model.facts import ReportLanded
from orchestrator.model.limits import Limits
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.handoff import INSTANCE, report
from tests.benchmarks.resting import SETTINGS, rest
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.world import Begun, World

LINES = 100_000
HANDOFFS = 20_000
"""A step of a plan takes about nine lines, and leaves an order and a report: one in five."""


class HastyFiles(DiskFiles):
    """Files whose logs are not fsynced: laying down a long journal would take minutes."""

    def open_log(self, path: Path) -> DiskLog:
        return HastyLog(super().open_log(path)._descriptor, 0)


class HastyLog(DiskLog):
    def append(self, line: bytes) -> None:
        os.write(self._descriptor, line)


def rows(bench: Bench) -> Iterator[Row]:
    with World(**SETTINGS) as world, World() as empty:
        bench.progress.tell(f"{bench.agents} agents begin")
        task = rest(world, bench.agents)
        run = task.first_run()
        world.stop_daemon()
        texts = lengthen(bench, task, run)
        yield measured(bench, world, empty, f"restart, {bench.agents} agents, {LINES:,} journal lines")
        for name, text in list(texts.items())[:HANDOFFS]:
            (layout.handoffs(task.folder) / name).write_bytes(text)
        yield measured(bench, world, empty, f"restart, the same with {HANDOFFS:,} handoffs on disk")


def measured(bench: Bench, world: World, empty: World, what: str) -> Row:
    taken = dict[str, list[float]](world=[], empty=[])
    for _ in bench.times(7, what):
        for each, times in ((world, taken["world"]), (empty, taken["empty"])):
            watch = Stopwatch()
            each.start_daemon()
            times.append(watch.ms)
            each.stop_daemon()
    return Row(what, "ms", taken["world"], taken["empty"], "a daemon with no task", Reach(Of.MEDIAN, 2000))


def lengthen(bench: Bench, task: Begun, run: str) -> dict[str, bytes]:
    """Let a task's journal tell of many handoffs; return them by name."""
    texts = dict[str, bytes]()
    engine = Engine(HastyFiles(), task.home, Limits(), lambda _engine, _action: None)
    begin = time.time() - LINES
    while engine.lines < LINES:
        number = engine.lines
        if number % 500 == 0:
            bench.progress.tell(f"laying down a journal, {number:,} of {LINES:,} lines")
        name, text = handoff_name(INSTANCE, begin + number), report(run, number, begin + number)
        digest = sha256(text).hexdigest()
        fact = ReportLanded(time.time(), name, name, digest, INSTANCE, read_report(text, name))
        engine.feed(fact)
        texts[name] = text
    engine.close()
    return texts
