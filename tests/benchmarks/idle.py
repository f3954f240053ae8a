"""What a daemon costs that has nothing to do."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks.bench import Bench
from tests.benchmarks.resting import SETTINGS, rest
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.world import World

WINDOW = 33
"""Seconds. A rescan comes every 30 s, a beat every 5 s: the window holds at least one and six of them."""

_TICK = os.sysconf("SC_CLK_TCK")


def rows(bench: Bench) -> Iterator[Row]:
    with ExitStack() as ends:
        empty, full = (ends.enter_context(World(**SETTINGS)) for _ in range(2))
        bench.progress.show(f"{bench.agents} agents begin")
        empty.start_daemon()
        rest(full, bench.agents)
        for second in range(3):  # what the beginning left to do
            bench.progress.show(f"settling, {second + 1} of 3 s")
            time.sleep(1)
        daemons = {"no agent": pid_of(empty), f"{bench.agents} agents at rest": pid_of(full)}
        began, spent = time.monotonic(), {who: processor_seconds(pid) for who, pid in daemons.items()}
        for second in range(WINDOW):
            bench.progress.show(f"{second + 1} of {WINDOW} s")
            time.sleep(1)
        for who, pid in daemons.items():
            share = 100 * (processor_seconds(pid) - spent[who]) / (time.monotonic() - began)
            yield Row(f"idle daemon, {who}", "% of a core", [share], reach=Reach(Of.MEDIAN, 0.5))
            yield Row(f"idle daemon, {who}", "MB", [resident(pid)], reach=Reach(Of.MEDIAN, 80))


def pid_of(world: World) -> int:
    assert world.daemon
    return world.daemon.pid


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def resident(pid: int) -> float:
    """Return the megabytes of memory that a process occupies."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in status if line.startswith("VmRSS:"))
    return int(kilobytes) / 1024
