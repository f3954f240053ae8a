"""This machine as a host: runs in panes of a tmux server, told apart by their claim files."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.formats.text import neutral
from orchestrator.hosts import claims, processes
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
"""Seconds in which killed processes must vanish and their launcher write `exit`; then it is killed too."""

_TO_TELL: Final = 0.1
"""Seconds that killed processes have to vanish, and their launcher to tell of it, before the process table is looked
through once more: that costs by the number of all processes, and many runs may be killed at once.
"""

_LOOK: Final = 0.005  # seconds between two looks at processes that were killed


@dataclass(slots=True)
class _Known:
    """A run that was seen alive: what its launcher told of itself, as what, and until which uptime it surely lived."""

    launched: Launched
    seen: Observation
    until: float


@dataclass(slots=True)
class _Asked:
    """Who of a run was asked to end, and when the last one was, by the monotonic clock."""

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
        """Lay down the run's scripts and open it in a window of its own; nothing, if it was claimed before.

        Raises:
            Refused: the spec holds what cannot be launched.
            NoTarget, NoServer: there is no such session; `open_session` makes it.
            Unavailable: tmux or the disk cannot do it now. It may come all the same: observe, or end.

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
        """Tell how far the run of this folder is. Raises Unavailable if the disk cannot be read now."""
        try:
            return self._observe(folder)
        except OSError as error:
            raise Unavailable(f"the files of run {folder.name} cannot be read: {error}") from error

    def _observe(self, folder: Path) -> Observation:
        # What a launcher wrote of itself never changes, and it lives until it has told of its end: as long as the
        # process of one that was seen alive runs, there is nothing new to read.
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
        """Return what the launcher of a run told of itself, whatever became of the file in which it did."""
        known = self._alive.get(folder)
        return read_launched(self._files, folder) or (known.launched if known is not None else None)

    def _read(self, folder: Path, launched: Launched | None) -> Observation:
        lives = launched is not None and processes.alive(launched.process)
        ended = read_exit(self._files, folder)
        claimed = (
            ended is None and launched is None and self._files.entry(folder / claims.CLAIMED) is not None
        )
        return standing(launched, ended, lives=lives, claimed=claimed)

    def _gone(self, folder: Path, launched: Launched, seen: Observation) -> Observation:
        """Return what is seen of a run whose launcher is gone: it is gone itself once nothing of it is left."""
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
        """Return by what the processes of a run are known."""
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
        """Claim a run that nobody claimed yet: a launcher that comes later starts nothing."""
        try:
            # Looked at first: to make a file durable only to find its name taken costs more than all else here.
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
        """Signal every process of the run; its launcher outlives TERM, and writes `exit` when all is over.

        Without `kill` a process is asked once: called again, those hear of it that began since the last call, or so
        shortly before it that they were missed. A second TERM would cut short what a program does at its end.
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
        """Send TERM to those of a run to whom it was not sent yet."""
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
        """Kill all but the launcher, and the leader above it, so that it can tell; then these too.

        The leader's end would hang up the agent, which would then have ended by another signal than it did. Once all
        are gone who were found, nothing more is looked for: whether anybody was born meanwhile is observed.
        """
        deadline, patience = time.monotonic() + KILL_BOUND, _TO_TELL
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
    """Wait until processes are gone; tell whether they went in time."""
    until = time.monotonic() + seconds
    while rows := [row for row in rows if processes.alive(row.process)]:
        if time.monotonic() >= until:
            return False
        time.sleep(_LOOK)
    return True
