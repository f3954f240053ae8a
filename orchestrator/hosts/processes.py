"""The process table: which processes live, since when, and who started them.

A pid alone is not enough, because it is reused. Here a process is its pid with its start time, as `launch.sh` writes
both, and no process is signalled whose start time differs.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from orchestrator.model.errors import Unavailable

LINUX: Final = sys.platform == "linux"

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_DEADLINE: Final = 5.0  # seconds for one call of ps
_STARTED: Final = re.compile(r"(\w+ +\w+ +[0-9]+ +[0-9:]+ +[0-9]{4}) +(.*?) *")  # lstart and ucomm of ps
_AT_ONCE: Final = 1 << 17  # bytes of an environment that are asked for: usually all
_ARGUMENTS: Final = 8192  # bytes of a command line that are looked at
_ENV_END: Final = 48  # the place of env_end among the fields of /proc/PID/stat from the state on
_EXEC_BOUND: Final = 0.2  # seconds to wait for a process within execve
_EXEC_PAUSE: Final = 0.000_5  # seconds
_KERNEL_THREAD: Final = 0x0020_0000  # PF_KTHREAD of linux/sched.h, among the flags in /proc/PID/stat


@dataclass(frozen=True, slots=True)
class Process:
    """One process. `start` is an opaque text for its start time, different after each boot."""

    pid: int
    start: str

    def __str__(self) -> str:
        """Return both as one word, as `launch.sh` writes them."""
        return f"{self.pid}@{self.start}"

    @property
    def began(self) -> float:
        """Seconds after boot at which it started, rounded down to 10 ms; 0 if its start time does not show that."""
        ticks = self.start.partition("@")[0]
        return int(ticks) / _TICKS if ticks.isdigit() else 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the process table. `session` is the process group if there is no /proc.

    `used` is the processor time of the process and of the children that it waited for, in seconds. `name` is the
    process's own name: a few characters of any kind.
    """

    process: Process
    parent: int
    session: int
    used: float
    name: str
    kernel: bool = False


def alive(process: Process) -> bool:
    """Return whether exactly this process runs; a zombie does not."""
    if LINUX:
        stat = _stat_of(process.pid)
        return stat is not None and _start(stat[1]) == process.start
    row = row_of(process.pid)
    return row is not None and row.process == process


def start_of(pid: int) -> str:
    """Return the start time of a process that runs, or an empty string."""
    row = row_of(pid)
    return row.process.start if row else ""


def send(process: Process, number: signal.Signals) -> None:
    """Signal a process if it is still the same; no error if it is gone or may not be signalled."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "pidfd_open"):
            # The descriptor is bound to the process, so the pid cannot be reused between the check and the signal.
            descriptor = os.pidfd_open(process.pid)
            try:
                if alive(process):
                    signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)
        elif alive(process):
            os.kill(process.pid, number)


def pids() -> set[int]:
    """Return the pids of all processes; without /proc, of those that run."""
    if LINUX:
        return {int(name) for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208 (names, not paths)
    return {row.process.pid for row in _rows_of_ps("-ax")}


def row_of(pid: int) -> Row | None:
    """Return the row of a process that runs, or None."""
    if LINUX:
        return _row_of_proc(pid)
    rows = _rows_of_ps("-p", str(pid))
    return rows[0] if rows else None


def rows_of(wanted: set[int]) -> list[Row]:
    """Return the rows of those of these processes that run."""
    if LINUX:
        return [row for pid in wanted if (row := _row_of_proc(pid)) is not None]
    return [row for row in _rows_of_ps("-ax") if row.process.pid in wanted]


def command_of(pid: int) -> str:
    """Return the command of a process that runs, its words divided by NUL (without /proc: blanks); empty if unknown."""
    if not LINUX:
        return _ps("-ww", "-p", str(pid), "-o", "args=").strip()
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 (thousands may be looked at)
            return os.fsdecode(file.read(_ARGUMENTS)).removesuffix("\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""


def runs_script(pid: int, script: str) -> bool:
    """Return whether a process that runs was started as `sh SCRIPT`, by any name of that; a fork of it was too."""
    run = command_of(pid).partition("\0" if LINUX else " ")[2]
    if run == script or os.path.basename(run) != os.path.basename(script):  # noqa: PTH119 (as above)
        return run == script
    try:
        return os.path.samefile(run, script)  # noqa: PTH121 (as above)
    except (OSError, ValueError):
        return False


def environment_of(pid: int) -> bytes:
    """Return the environment that a process was started with; empty if it cannot be read.

    That is so if it belongs to another user, is gone, there is no /proc, or the process has overwritten it.

    For a moment within execve(2) a process has its new memory and nothing in it: right after the return of
    `subprocess.Popen`, 1,362 of 1,500 environments were empty (Linux 6). So this waits, 0.2 seconds at most.
    """
    if not LINUX:
        return b""
    deadline = time.monotonic() + _EXEC_BOUND
    while not (environment := _read_environment(pid)) and time.monotonic() < deadline:
        if environment is None:
            return b""
        stat = _stat_of(pid)
        if stat is None or int(stat[1][6]) & _KERNEL_THREAD:
            return b""
        if stat[1][_ENV_END] != b"0":
            return _read_environment(pid) or b""
        time.sleep(_EXEC_PAUSE)
    return environment or b""


def _read_environment(pid: int) -> bytes | None:
    """Return what is there now; None if it may not be read, or the process is gone: waiting changes neither."""
    try:
        descriptor = os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    parts = list[bytes]()
    try:
        while part := os.read(descriptor, _AT_ONCE):
            parts.append(part)
    except ProcessLookupError:
        return b""
    finally:
        os.close(descriptor)
    return b"".join(parts)


def uptime() -> float:
    """Return the seconds since boot, sleep included, the base of start times; 0 if start times do not show that."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if LINUX else 0.0


def _row_of_proc(pid: int) -> Row | None:
    stat = _stat_of(pid)
    if stat is None:
        return None
    name, fields = stat
    ticks = sum(int(each) for each in fields[11:15])
    return Row(
        process=Process(pid, _start(fields)),
        parent=int(fields[1]),
        session=int(fields[3]),
        used=ticks / _TICKS,
        name=name,
        kernel=bool(int(fields[6]) & _KERNEL_THREAD),
    )


def _start(fields: list[bytes]) -> str:
    return f"{int(fields[19])}@{_boot()}"


def _stat_of(pid: int) -> tuple[str, list[bytes]] | None:
    """Return the name of a process and its fields from the state on; None if it is gone, or a zombie.

    proc(5): the name in parentheses may contain anything; state, ppid, session, flags and starttime are 3, 4, 6, 9 and
    22, and the four times of the process and its children 14 to 17.
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
    head, _, rest = stat.rpartition(b") ")
    fields = rest.split()
    if fields[0] in b"ZX":
        return None
    return head.partition(b"(")[2].decode(errors="replace"), fields


def _ps(*words: str) -> str:
    try:
        shown = subprocess.run(
            ["ps", *words],
            env=os.environ | {"LC_ALL": "C"},
            capture_output=True,
            timeout=_DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"ps could not list processes: {error}") from error
    return shown.stdout.decode(errors="replace")


def _rows_of_ps(*which: str) -> list[Row]:
    rows = []
    for line in _ps(*which, "-o", "pid=,ppid=,pgid=,stat=,time=,lstart=,ucomm=").splitlines():
        pid, parent, group, state, spent, rest = line.split(None, 5)
        if not state.startswith("Z") and (columns := _STARTED.fullmatch(rest)):
            rows.append(
                Row(Process(int(pid), columns[1]), int(parent), int(group), _seconds(spent), columns[2])
            )
    return rows


def _seconds(spent: str) -> float:
    """Return the seconds of a ps time in the form `[[DD-]HH:]MM:SS[.ss]`."""
    days, _, clock = spent.rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = seconds * 60 + float(part)
    return int(days or 0) * 86_400 + seconds


@cache
def _boot() -> str:
    """Return the id of this boot: start times count from it, and so repeat after the next one."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
