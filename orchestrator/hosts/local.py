"""This machine as a host: runs in panes of a tmux server, distinguished by their claim files."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.formats.text import neutral
from orchestrator.hosts import claims, launcher_process, processes
from orchestrator.hosts.claims import Launched, left_behind, read_exit, read_launched, read_uptime, standing
from orchestrator.hosts.launcher import lay_down
from orchestrator.hosts.panes import Panes
from orchestrator.hosts.processes import Process, Row
from orchestrator.hosts.run_processes import Censuses, Signs, group_of, remove_group
from orchestrator.hosts.tmux import Tmux
from orchestrator.hosts.tmux_arguments import checked_target
from orchestrator.model.errors import Unavailable
from orchestrator.model.run import Leftover
from orchestrator.ports.files import Files
from orchestrator.ports.host import LaunchSpec, Observation, Standing

KILL_BOUND: Final = 5.0
"""Seconds within which killed processes must vanish and their launcher write `exit`; then it is killed too."""

_TO_REPORT: Final = 0.1
"""Seconds for killed processes to vanish, and their launcher to report that, before the process table is searched once
more: the search takes longer the more processes there are, and many runs may be killed at once.
"""

_TO_WRITE: Final = 1.0
"""Seconds after its claim in which a launcher has written its `pid`: it takes 10 ms (measured)."""

_LOOK: Final = 0.005  # seconds between two looks at processes that were killed


@dataclass(slots=True)
class _Known:
    """A run that was seen alive: its launcher's `pid`, the observation, and an uptime until which it surely lived."""

    launched: Launched
    seen: Observation
    until: float


@dataclass(slots=True)
class _Asked:
    """Which processes of a run were asked to end, and when the last one was, by the monotonic clock."""

    at: float
    processes: set[Process]


class LocalHost(Panes):
    """The port `Host` on this machine. Safe to call from several threads."""

    def __init__(self, tmux: Tmux, files: Files) -> None:
        super().__init__(tmux)
        self._files = files
        self._alive: dict[Path, _Known] = {}
        self._asked: dict[Path, _Asked] = {}
        self._censuses = Censuses()

    # Launching ------------------------------------------------------------------------------------

    def open_session(self, session: str, title: str, log: Path) -> None:
        """Make the task's session if missing: detached, its first window following the PM's `log`."""
        self.follow(session, title, str(log))

    def launch(self, spec: LaunchSpec) -> None:
        """Write the run's scripts and open it in a window of its own; do nothing if it was claimed before.

        Raises:
            Refused: the spec contains something that cannot be launched.
            NoTarget, NoServer: there is no such session; `open_session` makes it.
            Unavailable: tmux or the disk cannot do it now. The run may start all the same: observe, or end it.

        """
        for name in (spec.session, spec.window):
            checked_target(name)
        try:
            if self._files.entry(spec.folder / claims.CLAIMED) is not None:
                return
            script = lay_down(self._files, spec)
        except OSError as error:
            raise Unavailable(f"the run's folder cannot be written: {error}") from error
        self.start(spec.session, spec.window, str(script))

    # Watching and ending --------------------------------------------------------------------------

    def observe(self, folder: Path) -> Observation:
        """Return the state of the run of this folder. Raises Unavailable if the disk cannot be read now."""
        try:
            return self._observe(folder)
        except OSError as error:
            raise Unavailable(f"the files of run {folder.name} cannot be read: {error}") from error

    def _observe(self, folder: Path) -> Observation:
        # The `pid` never changes, and a launcher lives until it has written `exit`: as long as the process of a run
        # that was
        # seen alive runs, there is nothing new to read.
        known, now = self._alive.get(folder), processes.uptime()
        if known is not None and processes.alive(known.launched.process):
            known.until = now
            return known.seen
        launched = self._launched(folder)
        seen = self._read(folder, launched)
        match seen.standing:
            case Standing.ALIVE if launched is not None:
                self._alive[folder] = _Known(launched, seen, now)
            case Standing.GONE if launched is not None:
                return self._gone(folder, launched, seen)
            case _:
                self._alive.pop(folder, None)
        return seen

    def _launched(self, folder: Path) -> Launched | None:
        """Return a launcher's `pid`, as first read, whatever became of the file since.

        If the file names no launcher of this run that lives, and no exit was written, the launcher itself is looked
        for: another life must not begin beside it because a file was spoilt.
        """
        if (known := self._alive.get(folder)) is not None:
            return known.launched
        said = read_launched(self._files, folder)
        launched = launcher_process.confirmed(folder, said) if said is not None else None
        if (launched is not None and processes.alive(launched.process)) or not self._is_late(folder):
            return launched
        return launcher_process.found(folder) or launched

    def _is_late(self, folder: Path) -> bool:
        """Return whether the launcher of a run has had the time to write its `pid`, and has not ended."""
        claimed = self._files.entry(folder / claims.CLAIMED)
        if claimed is None or self._files.entry(folder / claims.EXIT) is not None:
            return False
        written = self._files.entry(folder / claims.PID) is not None
        return written or time.time() - claimed.mtime_ns / 1e9 >= _TO_WRITE

    def _read(self, folder: Path, launched: Launched | None) -> Observation:
        lives = launched is not None and processes.alive(launched.process)
        ended = read_exit(self._files, folder)
        claimed = (
            ended is None and launched is None and self._files.entry(folder / claims.CLAIMED) is not None
        )
        return standing(launched, ended, lives=lives, claimed=claimed)

    def _gone(self, folder: Path, launched: Launched, seen: Observation) -> Observation:
        """Return the observation of a run whose launcher is gone: the run is gone once no process of it is left."""
        signs = self._signs(folder, launched)
        left = self._censuses.left_by(signs)
        if left:
            named = [Leftover(row.process.pid, neutral(row.name)) for row in left]
            return left_behind(seen, named, left[0].process.start)
        self._alive.pop(folder, None)
        self._asked.pop(folder, None)
        if signs.cgroup is not None:
            remove_group(signs.cgroup)
        return seen

    def _signs(self, folder: Path, launched: Launched) -> Signs:
        """Return the signs by which the processes of a run are known."""
        known = self._alive.get(folder)
        seen_until = known.until if known is not None and known.launched == launched else 0.0
        return Signs(
            launched.process,
            launched.session,
            max(seen_until, min(read_uptime(self._files, folder), processes.uptime())),
            group_of(launched.process, launched.cgroup),
        )

    def cpu(self, folder: Path) -> float | None:
        """Return the processor time of a run's living processes, in seconds; None if none lives."""
        try:
            launched = self._launched(folder)
            rows = (
                self._censuses.recent(launched.process).of(self._signs(folder, launched))
                if launched is not None
                else []
            )
        except OSError as error:
            raise Unavailable(f"the files of run {folder.name} cannot be read: {error}") from error
        return sum(row.used for row in rows) if rows else None

    def fence(self, folder: Path) -> None:
        """Claim a run that nobody has claimed yet: a launcher that comes later starts nothing."""
        try:
            # Checked first: making a file durable only to find its name taken is the most expensive step here.
            claimed = folder / claims.CLAIMED
            if (
                self._files.entry(folder) is not None
                and self._files.entry(claimed) is None
                and self._files.create(claimed, b"")
            ):
                self._files.create(folder / claims.EXIT, claims.ENDED_BEFORE_IT_BEGAN)
        except OSError as error:
            raise Unavailable(f"run {folder.name} cannot be claimed now: {error}") from error

    def end(self, folder: Path, *, kill: bool) -> None:
        """Signal every process of the run; its launcher survives TERM, and writes `exit` when all have ended.

        Without `kill` each process is asked once: a second call asks only those that began since the last call, or so
        shortly before it that they were missed. A second TERM would interrupt what a program does at its end.
        """
        self.fence(folder)
        try:
            launched = self._launched(folder)
            if launched is None:
                return
            signs = self._signs(folder, launched)
            if kill:
                self._kill(signs)
                return
            self._ask(folder, signs)
        except OSError as error:
            raise Unavailable(f"run {folder.name} cannot be ended now: {error}") from error

    def _ask(self, folder: Path, signs: Signs) -> None:
        """Send TERM to those processes of a run that have not got it yet."""
        asked = self._asked.get(folder)
        if asked is None:
            census, asked = self._censuses.recent(signs.launcher), _Asked(0.0, set())
        else:
            census = self._censuses.since(asked.at)
        for row in census.of(signs):
            if row.process not in asked.processes:
                processes.send(row.process, signal.SIGTERM)
                asked.processes.add(row.process)
        asked.at = time.monotonic()
        self._asked[folder] = asked

    def _kill(self, signs: Signs) -> None:
        """Kill all processes but the launcher and its session leader, so that it can report; then these too.

        The leader's end would hang up the agent, which would then appear to have ended by another signal. Once all
        found
        processes are gone, no further ones are searched for here: whether any were born meanwhile is observed later.
        """
        deadline, patience = time.monotonic() + KILL_BOUND, _TO_REPORT
        census = self._censuses.recent(signs.launcher)
        while left := census.of(signs):
            late = time.monotonic() >= deadline
            for row in left:
                if late or row.process.pid not in {signs.launcher.pid, signs.session}:
                    processes.send(row.process, signal.SIGKILL)
            signalled = time.monotonic()
            if late or _gone_within(left, patience):
                break
            census, patience = self._censuses.since(signalled), _LOOK
        if signs.cgroup is not None:
            remove_group(signs.cgroup)


def _gone_within(rows: list[Row], seconds: float) -> bool:
    """Wait until processes are gone; return whether they went in time."""
    until = time.monotonic() + seconds
    while rows := [row for row in rows if processes.alive(row.process)]:
        if time.monotonic() >= until:
            return False
        time.sleep(_LOOK)
    return True
