"""The ends of runs: each live run's process is watched, and a hint says when it has ended."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.core import hints as h
from orchestrator.hosts.exit_watch import ExitWatch
from orchestrator.hosts.processes import Process
from orchestrator.model.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.ports.host import Host

log = logging.getLogger("orchestrator.daemon")


class RunExits:
    """Watches the process that each live run depends on, and no other: its launcher, or one that outlives it."""

    def __init__(self, host: Host, post: Callable[[h.Hint], None]) -> None:
        self._host = host
        self._post = post
        self._exits = ExitWatch(self._ended)
        self._watched: dict[str, tuple[str, int | None]] = {}

    def look(self, live: Mapping[str, tuple[str, Path, int]]) -> None:
        """Watch these runs from now on: of each its task, the task's own folder, and the process."""
        for name in set(self._watched) - set(live):
            self._exits.remove(name)
            del self._watched[name]
        for name, (task, home, pid) in live.items():
            if self._watched.get(name) != (task, pid):
                try:
                    seen = self._host.observe(layout.run_home(home, name))
                except Unavailable as error:
                    log.warning("the end of run %s cannot be watched just now: %s", name, error)
                    continue
                if seen.pid is None:
                    continue
                self._watched[name] = task, pid
                if seen.start:
                    self._exits.add(name, Process(seen.pid, seen.start))
                else:  # it ended since the last look, while this turn wrote projections
                    self._ended(name)

    def close(self) -> None:
        """Watch nothing any more."""
        self._exits.close()

    def _ended(self, run: str) -> None:
        watched = self._watched.get(run)
        if watched is not None:
            self._post(h.RunHint(watched[0], run))
