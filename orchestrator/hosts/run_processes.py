"""Which processes belong to a run: all that its launcher started, whatever became of their parents.

Four signs tell, and each finds what the others miss:

- the *mark*: every program of a run has it in the environment that it was started with. Lost by who clears that or
  writes over it (`env -i`, servers that set a title), and not to be seen in another user's process;
- the *session*, which the launcher's pane has for itself. Left by `setsid`;
- the *parent*: a child of one that belongs to a run does too. Lost when the parent ends;
- the *control group*, where the launcher could make one. Left only by who asks another program to be started
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
"""Every process of a run has this in its environment; its value names the launcher, by pid and start time.

It is never that of another run: ids of runs could meet, in the folders of two users or of two tests.
"""

CGROUPS: Final = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
"""Where the second version of control groups is mounted, if it is. `launch.sh` looks at the same places."""

_GROUP: Final = "orchestrator-run-"
_MARKED: Final = f"\0{MARK}=".encode()
_ROUNDS: Final = 20
_TICK: Final = 0.02  # seconds: start times are rounded down to 10 ms


@dataclass(frozen=True, slots=True)
class Signs:
    """By what the processes of one run are known.

    `session` is the launcher's, or 0 where it is somebody else's too. `lived_until` is an uptime at which the launcher
    surely lived, 0 if none is known: who was in its session by then is of the run, and later the session's number
    may be another's. `cgroup` is the control group that the launcher made, or None.
    """

    launcher: Process
    session: int = 0
    lived_until: float = 0.0
    cgroup: Path | None = None


class Census:
    """One look at the process table.

    It goes on until nobody is listed who was not looked at. So who is on the last list was looked at; who is not had
    ended by then, and all that it had started by then is listed: a run of which nobody was found has ended.

    It costs by the number of all processes; to ask it for those of one run costs by the number of these. `asked` and
    `done` are when it began and ended, by the monotonic clock.
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
        """Return who bears each mark, who is in each session, and whom each process has started."""
        marked = defaultdict[bytes, set[int]](set)
        for pid, mark in self._marks.items():
            marked[mark].add(pid)
        sessions, children = defaultdict[int, list[Row]](list), defaultdict[int, list[int]](list)
        for pid, row in self._rows.items():
            sessions[row.session].append(row)
            children[row.parent].append(pid)
        return marked, sessions, children

    def knows(self, launcher: Process) -> bool:
        """Return whether this is a look at a run of this launcher: it was there then, or had ended."""
        row = self._rows.get(launcher.pid)
        return self.proves_over(launcher) if row is None else row.process == launcher

    def proves_over(self, launcher: Process) -> bool:
        """Return whether this snapshot began after the launcher ended: a process missing from it is gone for good."""
        return launcher.pid not in self.listed and 0 < launcher.began < self.began - _TICK

    def of(self, signs: Signs) -> list[Row]:
        """Return every process of a run, its launcher and the leader of its session too, as far as they can be told."""
        mark = str(signs.launcher).encode()
        found = set(self._marked.get(mark, ()))
        found |= self._in_session(signs, found)
        if signs.cgroup is not None:
            found |= members(signs.cgroup) & self._rows.keys()
        found |= self._descendants(found, mark)
        found.discard(os.getpid())
        return [self._rows[pid] for pid in sorted(found)]

    def _in_session(self, signs: Signs, marked: set[int]) -> set[int]:
        """Return who is in the run's session, if its number is known to be still that.

        It is not given anew while anybody is in it: so it is while the launcher lives, or one that bears its mark is in
        it. Of those that were in it while the launcher lived it is known in any case.
        """
        if not signs.session:
            return set()
        there = self._sessions.get(signs.session, [])
        if any(row.process == signs.launcher or row.process.pid in marked for row in there):
            return {row.process.pid for row in there}
        return {row.process.pid for row in there if 0 < row.process.began <= signs.lived_until}

    def _descendants(self, of: Iterable[int], mark: bytes) -> set[int]:
        """Return all that processes of a run have started, but for what bears the mark of another run."""
        found, waiting = set[int](), list(of)
        while waiting:
            started = self._children.get(waiting.pop(), ())
            new = [pid for pid in started if pid not in found and self._marks.get(pid, mark) == mark]
            found.update(new)
            waiting += new
        return found


class Censuses:
    """Takes a census when one is needed, and lets it serve all that it can. Safe for several threads.

    So many runs are ended, and seen to be gone, by a few looks at the process table, and not by one for each of them.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = Lock()
        self._last: Census | None = None

    def recent(self, launcher: Process) -> Census:
        """Return a census that knows a run: one of just now, which ended no longer ago than it took.

        For signalling. Whoever was born since is missed, as is who is born between a census and the signal: this makes
        that time twice as long at most. It cannot prove that nobody is left.
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
        """Return a census that began at a moment of the monotonic clock or after it."""
        with self._lock:
            last = self._last
            if last is None or last.asked < moment:
                last = self._last = Census()
            return last

    def left_by(self, signs: Signs) -> list[Row]:
        """Return what a run has left behind whose launcher is gone; nothing where there is no /proc to tell it."""
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
    """Return the control group that a launcher says it made beneath another one; None where it can be none of ours."""
    path = Path(parent)
    ticks = launcher.start.partition("@")[0]
    beneath = any(path.is_relative_to(mount) for mount in CGROUPS) and ".." not in path.parts
    return path / f"{_GROUP}{launcher.pid}-{ticks}" if beneath and ticks.isdigit() else None


def members(cgroup: Path) -> set[int]:
    """Return the processes in a control group and in those that were made beneath it; none if it is gone."""
    found = set[int]()
    for each in _groups_in(cgroup):
        with suppress(OSError):
            found.update(int(pid) for pid in (each / "cgroup.procs").read_text().split())
    return found


def remove_group(cgroup: Path) -> None:
    """Remove a control group in which nobody is any more, and those beneath it. One that is in use stays."""
    for each in sorted(_groups_in(cgroup), reverse=True):
        with suppress(OSError):
            each.rmdir()


def _groups_in(cgroup: Path) -> list[Path]:
    """Return a control group and those beneath it. One may vanish meanwhile, which `Path.glob` does not survive."""
    return [Path(folder) for folder, _, _ in os.walk(cgroup)]


def _left(census: Census, signs: Signs) -> list[Row]:
    """Return what is left but for the leader of the session, which ends with its launcher after it has tidied up.

    What the leader starts for that ends by itself. Nothing else is its child: orphans never become that.
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
