"""The process table: who lives, since when, and which processes belong to a run.

A pid alone says little, for it is used again. Here a process is its pid with its start time, as `launch.sh`
writes both down, and nothing is signalled whose start time differs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from orchestrator.model.errors import Unavailable

MARK: Final = "ORCHESTRATOR_LAUNCHER"
"""Every process of a run has this in its environment; its value names the launcher, by pid and start time.

It is never that of another run: ids of runs could meet, in the folders of two users or of two tests.
"""

_LINUX: Final = sys.platform == "linux"
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_DEADLINE: Final = 5.0  # seconds for one call of ps


@dataclass(frozen=True, slots=True)
class Process:
    """One process. `start` is an opaque word for its start time, different after each boot."""

    pid: int
    start: str

    def __str__(self) -> str:
        """The two as one, as `launch.sh` writes them."""
        return f"{self.pid}@{self.start}"


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the process table; `session` is the process group where there is no /proc.

    `used` is the processor time of the process and of the children that it waited for, in seconds.
    """

    process: Process
    session: int
    used: float


def alive(process: Process) -> bool:
    """Tell whether exactly this process runs; one that ended and was not yet waited for does not."""
    if _LINUX:
        stat = _stat_of(process.pid)
        return stat is not None and _start(stat) == process.start
    row = _row(process.pid)
    return row is not None and row.process == process


def start_of(pid: int) -> str:
    """Return the start time of a process that runs, or an empty string."""
    row = _row(pid)
    return row.process.start if row else ""


def processes_of(launcher: Process, session: int) -> list[Process]:
    """Return every process of a run, its launcher too, as far as they can be told.

    These are all in its session (if not 0) while its launcher lives, as afterwards the number may be another's;
    and on Linux all that bear its mark in their environment, which finds servers that left the session.
    """
    return [row.process for row in _rows_of(launcher, session)]


def used(launcher: Process, session: int) -> float | None:
    """Return the processor time of a run's processes, in seconds; None if none of them lives."""
    rows = _rows_of(launcher, session)
    return sum(row.used for row in rows) if rows else None


def _rows_of(launcher: Process, session: int) -> list[_Row]:
    own = session if alive(launcher) else 0
    mark = f"{MARK}={launcher}".encode()
    return [
        row
        for row in _table()
        if row.process.pid != os.getpid()
        and ((own and row.session == own) or (_LINUX and _has_mark(row.process.pid, mark)))
    ]


def send(process: Process, number: signal.Signals) -> None:
    """Signal a process if it is still the same; no error if it is gone or not ours to signal."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "pidfd_open"):
            # The descriptor holds on to the process, so it cannot become another after it was looked at.
            descriptor = os.pidfd_open(process.pid)
            try:
                if alive(process):
                    signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)
        elif alive(process):
            os.kill(process.pid, number)


def _has_mark(pid: int, mark: bytes) -> bool:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):  # gone, or another user's
        return False
    return mark in environment.split(b"\0")


def _table() -> list[_Row]:
    if _LINUX:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 (names, not paths)
        return [row for pid in pids if (row := _row_of_proc(pid))]
    return _rows_of_ps("-ax")


def _row(pid: int) -> _Row | None:
    if _LINUX:
        return _row_of_proc(pid)
    rows = _rows_of_ps("-p", str(pid))
    return rows[0] if rows else None


def _row_of_proc(pid: int) -> _Row | None:
    stat = _stat_of(pid)
    if stat is None:
        return None
    ticks = sum(int(each) for each in stat[11:15])
    return _Row(Process(pid, _start(stat)), int(stat[3]), ticks / _TICKS)


def _start(stat: list[bytes]) -> str:
    return f"{int(stat[19])}@{_boot()}"


def _stat_of(pid: int) -> list[bytes] | None:
    """Return the fields of a process from its state on, or None if there is none such, or only what is left of it.

    proc(5): the name in parentheses may hold anything; state, session and starttime are 3, 6 and 22, and the four
    times of the process and its children 14 to 17.
    """
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError):
        return None
    try:
        stat = os.read(descriptor, 4096)
    except ProcessLookupError:
        return None
    finally:
        os.close(descriptor)
    fields = stat.rpartition(b") ")[2].split(None, 20)
    return None if fields[0] in b"ZX" else fields


def _rows_of_ps(*which: str) -> list[_Row]:
    command = ["ps", *which, "-o", "pid=,pgid=,stat=,time=,lstart="]
    try:
        shown = subprocess.run(
            command, env=os.environ | {"LC_ALL": "C"}, capture_output=True, timeout=_DEADLINE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"ps did not tell about processes: {error}") from error
    rows = []
    for line in shown.stdout.decode().splitlines():
        pid, group, state, spent, start = line.split(None, 4)
        if not state.startswith("Z"):
            rows.append(_Row(Process(int(pid), start.strip()), int(group), _seconds(spent)))
    return rows


def _seconds(spent: str) -> float:
    """Return the seconds that ps means by `[[DD-]HH:]MM:SS[.ss]`."""
    days, _, clock = spent.rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = seconds * 60 + float(part)
    return int(days or 0) * 86_400 + seconds


@cache
def _boot() -> str:
    """Return the id of this boot: start times count from it, and so come again after the next one."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
