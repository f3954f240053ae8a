"""This machine as a host: runs in panes of a tmux server, told apart by their claim files."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Final

from orchestrator.hosts import claims, processes
from orchestrator.hosts.claims import Launched, read_exit, read_launched, standing
from orchestrator.hosts.launcher import lay_down
from orchestrator.hosts.panes import Panes
from orchestrator.hosts.processes import Process
from orchestrator.hosts.tmux import Tmux
from orchestrator.hosts.tmux_words import checked_target
from orchestrator.model.errors import Unavailable
from orchestrator.ports.files import Files
from orchestrator.ports.host import LaunchSpec, Observation, Standing

KILL_BOUND: Final = 5.0
"""Seconds in which killed processes must vanish and their launcher write `exit`; then it is killed too."""

_LOOK: Final = 0.005  # seconds between two looks at the process table while killing


class LocalHost(Panes):
    """The port `Host` on this machine. Safe to call from several threads."""

    def __init__(self, tmux: Tmux, files: Files) -> None:
        super().__init__(tmux)
        self._files = files
        self._alive: dict[Path, tuple[Process, Observation]] = {}

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
        known, seen = self._alive.get(folder, (None, None))
        if known is not None and seen is not None and processes.alive(known):
            return seen
        seen = self._read(folder)
        if seen.standing is Standing.ALIVE and seen.pid is not None:
            self._alive[folder] = Process(seen.pid, seen.start), seen
        else:
            self._alive.pop(folder, None)
        return seen

    def _read(self, folder: Path) -> Observation:
        launched = read_launched(self._files, folder)
        lives = launched is not None and processes.alive(launched.process)
        ended = read_exit(self._files, folder)
        claimed = (
            ended is None and launched is None and self._files.entry(folder / claims.CLAIMED) is not None
        )
        return standing(launched, ended, lives=lives, claimed=claimed)

    def cpu(self, folder: Path) -> float | None:
        """Return the processor time of a run's living processes, in seconds; None if none lives."""
        try:
            launched = read_launched(self._files, folder)
        except OSError as error:
            raise Unavailable(f"the files of run {folder.name} cannot be read: {error}") from error
        return None if launched is None else processes.used(launched.process, launched.session)

    def forestall(self, folder: Path) -> None:
        """Claim a run that nobody claimed yet: a launcher that comes later starts nothing."""
        try:
            if self._files.entry(folder) is not None and self._files.create(folder / claims.CLAIMED, b""):
                self._files.create(folder / claims.EXIT, claims.ENDED_BEFORE_IT_BEGAN)
        except OSError as error:
            raise Unavailable(f"run {folder.name} cannot be claimed now: {error}") from error

    def end(self, folder: Path, *, kill: bool) -> None:
        """Signal every process of the run; its launcher outlives TERM, and writes `exit` when all is over."""
        self.forestall(folder)
        try:
            launched = read_launched(self._files, folder)
            if launched is None:
                return
            if kill:
                self._kill(launched)
            else:
                _send(launched, signal.SIGTERM)
        except OSError as error:
            raise Unavailable(f"run {folder.name} cannot be ended now: {error}") from error

    def _kill(self, launched: Launched) -> None:
        """Kill all but the launcher, and the leader above it, so that it can tell; then these too.

        The leader's end would hang up the agent, which would then have ended by another signal than it did.
        """
        deadline = time.monotonic() + KILL_BOUND
        while time.monotonic() < deadline:
            left = processes.processes_of(launched.process, launched.session)
            if not left:
                return
            for process in left:
                if process.pid not in {launched.process.pid, launched.session}:
                    processes.send(process, signal.SIGKILL)
            time.sleep(_LOOK)
        _send(launched, signal.SIGKILL)


def _send(launched: Launched, number: signal.Signals) -> None:
    """Signal every process of a run."""
    for process in processes.processes_of(launched.process, launched.session):
        processes.send(process, number)
