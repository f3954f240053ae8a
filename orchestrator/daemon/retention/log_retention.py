"""Leftovers of ended runs: terminal logs are compressed, and deleted when there are too many.

The journal has everything that decisions need, and stays. Of a run's folder the order and the files about its end stay;
its scripts are deleted, and finally its terminal log. Nothing is touched of a run that lives, or whose step is still
open. Replies to requests are deleted if nobody took them.
"""

from __future__ import annotations

import gzip
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.ingest.requests import REPLY
from orchestrator.hosts.claims import CLAIMED, EXIT, PID
from orchestrator.hosts.launcher import AGENT, PANE_LOG, SCRIPT
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from orchestrator.model.sections import LogSettings
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

PACKED: Final = f"{PANE_LOG}.gz"
_ENDS: Final = (EXIT, PID, CLAIMED)
"""Files that show when a run ended: the first one that exists."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A compressed log: when its run ended, in seconds since the epoch, and its size in bytes."""

    ended_at: float
    size: int


def open_runs(state: PMState) -> set[str]:
    """Return the runs of which nothing may be compressed: live ones, and those of steps that are not settled."""
    return {run.id for run in state.runs.values() if run.live or not state.steps[run.step].settled}


def spent_logs(kept: Mapping[str, Kept], bounds: LogSettings, at: float) -> list[str]:
    """Return the runs whose compressed logs must go: those too old, and the oldest if all together are too large."""
    spent = []
    room = bounds.task_size
    for run in sorted(kept, key=lambda each: (kept[each].ended_at, each), reverse=True):
        room -= kept[run].size
        if room < 0 or at - kept[run].ended_at > bounds.keep:
            spent.append(run)
    return spent


@dataclass(slots=True)
class LogRetention:
    """The ended runs of one task. `kept` are the compressed logs, `done` the runs that need no more looks.

    `gathered` says that the kept work of its tries was put together after the task was complete.
    """

    files: Files
    home: Path
    kept: dict[str, Kept] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    gathered: bool = False

    def tidy(self, state: PMState, bounds: LogSettings, at: float) -> None:
        """Compress what is over, and delete what is too much. Repeatable, and safe to interrupt.

        Raises:
            OSError: the disk cannot do it now.

        """
        runs = layout.task_runs(self.home)
        names = {entry.name for entry in self.files.entries(runs) if entry.is_folder}
        open_ = open_runs(state)
        self.done -= open_  # a step was reopened
        packed = [
            name for name in sorted(names - self.done - open_) if self._put_away(name, state.runs, bounds, at)
        ]
        # A reopened step keeps its logs.
        spent = spent_logs({run: kept for run, kept in self.kept.items() if run not in open_}, bounds, at)
        for run in spent:
            self.files.remove(runs / run / PACKED)
            del self.kept[run]
        self._drop_replies(at - bounds.pack_after)
        if packed or spent:
            log.info(
                "task %s: %d logs of runs compressed, %d deleted", self.home.name, len(packed), len(spent)
            )

    def _drop_replies(self, before: float) -> None:
        """Remove the replies that nobody took: the caller has given up long ago."""
        folder = layout.task_requests(self.home)
        for entry in self.files.entries(folder):
            if entry.name.endswith(REPLY) and entry.mtime_ns / 1e9 < before:
                self.files.remove(folder / entry.name)

    def _put_away(self, run: str, known: Collection[str], bounds: LogSettings, at: float) -> bool:
        """Compress one run's log and remove its scripts, if it ended long enough ago; return whether that was done."""
        folder = layout.run_home(self.home, run)
        found = {entry.name: entry for entry in self.files.entries(folder)}
        end = next((found[name] for name in _ENDS if name in found), None)
        if (
            end is None
            or (run not in known and EXIT not in found)
            or at - end.mtime_ns / 1e9 < bounds.pack_after
        ):
            return False
        size = found[PACKED].size if PACKED in found else 0
        if PANE_LOG in found:
            try:
                data = gzip.compress(self.files.read(folder / PANE_LOG), mtime=0)
            except Unreadable as error:
                log.warning("a log is left as it is: %s", error)
                self.done.add(run)
                return False
            self.files.write(folder / PACKED, data)
            size = len(data)
        for name in (PANE_LOG, SCRIPT, AGENT):
            if name in found:
                self.files.remove(folder / name)
        if size:
            self.kept[run] = Kept(end.mtime_ns / 1e9, size)
        self.done.add(run)
        return PANE_LOG in found
