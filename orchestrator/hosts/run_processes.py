"""Which processes belong to a run: all that its launcher started, whatever became of their parents.

Four signs show it, and each finds what the others miss:

- the *mark*: every program of a run has it in the environment that it was started with. It is lost if a program clears
  or overwrites that (`env -i`, servers that set a title), and cannot be read in another user's process;
- the *session*, which the launcher's pane has for itself. `setsid` leaves it;
- the *parent*: the child of a process of a run belongs to it too. This is lost when the parent ends;
- the *control group*, if the launcher could make one. A process leaves it only if it has another program start it
  (`systemd-run`, containers), or moves itself.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final

from orchestrator.hosts.processes import (
    LINUX,
    Process,
    Row,
    environment_of,
    pids,
    rows_of,
    uptime,
)

MARK: Final = "ORCHESTRATOR_LAUNCHER"
"""Every process of a run has this in its environment; its value identifies the launcher, by pid and start time.

Unlike a run's id, it is unique: ids of runs could coincide, in the folders of two users or of two tests.
"""

CGROUPS: Final = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
"""Where version 2 of control groups is mounted, if it is. `launch.sh` looks in the same places."""

_GROUP: Final = "orchestrator-run-"
_MARKED: Final = f"\0{MARK}=".encode()
_ROUNDS: Final = 20
_TICK: Final = 0.02  # seconds: start times are rounded down to 10 ms


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs by which the processes of one run are known.

    `session` is the launcher's, or 0 if others use it too. `lived_until` is an uptime at which the launcher surely
    lived, 0 if none is known: processes in its session by then belong to the run; later the session's number may have
    been reused. `cgroup` is the control group that the launcher made, or None.
    """

    launcher: Process
    session: int = 0
    lived_until: float = 0.0
    cgroup: Path | None = None


class Census:
    """One snapshot of the process table.

    It is repeated until the last listing has no process that was not examined. So every process on the last list was
    examined; a process missing from it had ended, and everything that it had started is listed. Therefore a run of
    which
    no process was found has ended.

    Its cost grows with the number of all processes; a query for one run costs by the number of its processes. `asked`
    and `done` are when the snapshot began and ended, by the monotonic clock.
    """

    def __init__(self) -> None:
        """Look."""
        self.asked = time.monotonic()
        self.began = uptime()
        self.listed: set[int] = set()
        self._rows: dict[int, Row] = {}
        self._marks: dict[int, bytes] = {}
        for _ in range(_ROUNDS):
            listed = pids()
            new, self.listed = listed - self.listed, listed
            if not new:
                break
            for row in rows_of(new):
                self._rows[row.process.pid] = row
                if not row.kernel and (mark := _mark_in(environment_of(row.process.pid))):
                    self._marks[row.process.pid] = mark
        self._marked, self._sessions, self._children = self._indexed()
        self.done = time.monotonic()

    def _indexed(self) -> tuple[dict[bytes, set[int]], dict[int, list[Row]], dict[int, list[int]]]:
        """Return the processes by mark, by session, and by parent."""
        marked = defaultdict[bytes, set[int]](set)
        for pid, mark in self._marks.items():
            marked[mark].add(pid)
        sessions, children = defaultdict[int, list[Row]](list), defaultdict[int, list[int]](list)
        for pid, row in self._rows.items():
            sessions[row.session].append(row)
            children[row.parent].append(pid)
        return marked, sessions, children

    @property
    def marked(self) -> dict[int, str]:
        """The processes that bear a mark, each with that."""
        return {pid: os.fsdecode(mark) for pid, mark in self._marks.items()}

    def knows(self, launcher: Process) -> bool:
        """Return whether this snapshot covers a run of this launcher: it existed then, or had ended."""
        row = self._rows.get(launcher.pid)
        return self.proves_over(launcher) if row is None else row.process == launcher

    def proves_over(self, launcher: Process) -> bool:
        """Return whether this snapshot began after the launcher ended: a process missing from it is gone for good."""
        return launcher.pid not in self.listed and 0 < launcher.began < self.began - _TICK

    def of(self, signs: Signs) -> list[Row]:
        """Return every process of a run, its launcher and the leader of its session included, as far as known."""
        mark = str(signs.launcher).encode()
        found = set(self._marked.get(mark, ()))
        found |= self._in_session(signs, found)
        if signs.cgroup is not None:
            found |= members(signs.cgroup) & self._rows.keys()
        found |= self._descendants(found, mark)
        found.discard(os.getpid())
        return [self._rows[pid] for pid in sorted(found)]

    def _in_session(self, signs: Signs, marked: set[int]) -> set[int]:
        """Return the processes in the run's session, if its number certainly still belongs to it.

        A number is not reused while any process is in the session. So it is certain while the launcher lives, or a
        process
        with its mark is in it. Processes that were in it while the launcher lived belong to the run in any case.
        """
        if not signs.session:
            return set()
        there = self._sessions.get(signs.session, [])
        if any(row.process == signs.launcher or row.process.pid in marked for row in there):
            return {row.process.pid for row in there}
        return {row.process.pid for row in there if 0 < row.process.began <= signs.lived_until}

    def _descendants(self, of: Iterable[int], mark: bytes) -> set[int]:
        """Return all descendants of a run's processes, except those with the mark of another run."""
        found, waiting = set[int](), list(of)
        while waiting:
            started = self._children.get(waiting.pop(), ())
            new = [pid for pid in started if pid not in found and self._marks.get(pid, mark) == mark]
            found.update(new)
            waiting += new
        return found


class Censuses:
    """Takes a snapshot when one is needed, and lets it serve all queries that it can. Safe for several threads.

    So the end of many runs needs only a few scans of the process table, not one for each run.
    """

    def __init__(self) -> None:
        """Begin without a snapshot."""
        self._lock = Lock()
        self._last: Census | None = None

    def recent(self, launcher: Process) -> Census:
        """Return a recent snapshot that covers a run: it ended no longer ago than it took.

        For signalling. Processes born since are missed, as are those born between a snapshot and the signal: this at
        most
        doubles that time. It cannot prove that no process is left.
        """
        with self._lock:
            last = self._last
            if (
                last is None
                or not last.knows(launcher)
                or time.monotonic() - last.done > last.done - last.asked
            ):
                last = self._last = Census()
            return last

    def since(self, moment: float) -> Census:
        """Return a snapshot that began at or after a moment of the monotonic clock."""
        with self._lock:
            last = self._last
            if last is None or last.asked < moment:
                last = self._last = Census()
            return last

    def left_by(self, signs: Signs) -> list[Row]:
        """Return the leftovers of a run whose launcher is gone; none if there is no /proc to show them."""
        if not LINUX:
            return []
        with self._lock:
            if (
                self._last is not None
                and self._last.proves_over(signs.launcher)
                and not _left(self._last, signs)
            ):
                return []
            self._last = Census()
            return _left(self._last, signs)


def group_of(launcher: Process, parent: str) -> Path | None:
    """Return the control group that a launcher claims to have made below another; None if it cannot be ours."""
    path = Path(parent)
    ticks = launcher.start.partition("@")[0]
    beneath = any(path.is_relative_to(mount) for mount in CGROUPS) and ".." not in path.parts
    return path / f"{_GROUP}{launcher.pid}-{ticks}" if beneath and ticks.isdigit() else None


def members(cgroup: Path) -> set[int]:
    """Return the processes in a control group and in those below it; none if it is gone."""
    found = set[int]()
    for each in _groups_in(cgroup):
        with suppress(OSError):
            found.update(int(pid) for pid in (each / "cgroup.procs").read_text().split())
    return found


def remove_group(cgroup: Path) -> None:
    """Remove an empty control group, and those below it. One that is in use stays."""
    for each in sorted(_groups_in(cgroup), reverse=True):
        with suppress(OSError):
            each.rmdir()


def _groups_in(cgroup: Path) -> list[Path]:
    """Return a control group and those below it. `Path.glob` would fail if one vanished meanwhile."""
    return [Path(folder) for folder, _, _ in os.walk(cgroup)]


def _left(census: Census, signs: Signs) -> list[Row]:
    """Return the leftovers except the session leader, which ends with its launcher after tidying up.

    Processes that the leader starts for that end by themselves. It has no other children: orphans are never adopted by
    it.
    """
    ours = {signs.launcher.pid, signs.session} - {0}
    return [
        row
        for row in census.of(signs)
        if row.process.pid not in ours and (row.parent or None) != signs.session
    ]


def _mark_in(environment: bytes) -> bytes:
    """Return the launcher that an environment names, or nothing."""
    _, found, rest = (b"\0" + environment).partition(_MARKED)
    return rest.partition(b"\0")[0] if found else b""
