"""A daemon that starts again: with a long journal, and by the next command after it was killed.

Until its first beat: then it has caught up.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
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
from tests.benchmarks.status import TASK
from tests.benchmarks.waiting import until
from tests.benchmarks.world import Begun, World, brief

LINES = 100_000
HANDOFFS = 20_000
"""A step of a plan takes about nine lines, and leaves an order and a report: one in five."""

AT_ONCE = 2
"""How many times the start of a daemon it may take until a killed one is back: nothing waits before that."""


class HastyFiles(DiskFiles):
    """Files whose logs are not fsynced: laying down a long journal would take minutes."""

    def open_log(self, path: Path) -> DiskLog:
        return HastyLog(super().open_log(path)._descriptor, 0)


class HastyLog(DiskLog):
    def append(self, line: bytes, *, durable: bool = True) -> None:
        del durable
        os.write(self._descriptor, line)


def rows(bench: Bench) -> Iterator[Row]:
    with World(**SETTINGS) as world, World() as empty:
        bench.progress.show(f"{bench.agents} agents begin")
        task = rest(world, bench.agents)
        run = task.first_run()
        world.stop_daemon()
        texts = lengthen(bench, task, run)
        yield measured(bench, world, empty, f"restart, {bench.agents} agents, {LINES:,} journal lines")
        for name, text in list(texts.items())[:HANDOFFS]:
            (layout.handoffs(task.folder) / name).write_bytes(text)
        yield measured(bench, world, empty, f"restart, the same with {HANDOFFS:,} handoffs on disk")
    yield killed(bench)


def killed(bench: Bench) -> Row:
    """Measure how long nobody leads a task after a kill, once its user types a command that only looks."""
    taken, floor = list[float](), list[float]()
    with World() as world:
        world.make_repository()
        world.start_daemon()
        task = world.start_task("small", brief({}, "worktree"))
        task.first_run()
        for _ in bench.times(5, "a killed daemon"):
            world.kill_daemon()
            watch = Stopwatch()
            with subprocess.Popen([str(TASK), "list"], env=world.environ, stdout=subprocess.DEVNULL):
                pid = until(lambda: _beating(world), "a new daemon's first beat", world.complaint)
                taken.append(watch.ms)
            _end(pid)
            watch = Stopwatch()
            world.start_daemon()
            floor.append(watch.ms)
    what = "a killed daemon leads again, from the next command on"
    return Row(what, "ms", taken, floor, "a daemon that is started", Reach(Of.RATIO, AT_ONCE))


def _beating(world: World) -> int:
    """Return the process of a daemon that has shown that its loop turns, if it lives; else 0."""
    with suppress(OSError, ValueError):
        pid = int(json.loads(layout.daemon_beat(world.state).read_text())["pid"])
        os.kill(pid, 0)
        return pid
    return 0


def _end(pid: int) -> None:
    """End a daemon that is no child of ours."""
    descriptor = os.pidfd_open(pid)
    signal.pidfd_send_signal(descriptor, signal.SIGTERM)
    os.close(descriptor)

    def gone() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    until(gone, "the end of a daemon")


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
            bench.progress.show(f"laying down a journal, {number:,} of {LINES:,} lines")
        name, text = handoff_name(INSTANCE, begin + number), report(run, number, begin + number)
        digest = sha256(text).hexdigest()
        fact = ReportLanded(time.time(), name, name, digest, INSTANCE, read_report(text, name))
        engine.feed(fact)
        texts[name] = text
    engine.close()
    return texts
