"""What is left of runs that are over: what their terminals showed is packed, and goes when there is too much of it.

What steers is in the journal, and stays. Of a run's folder stay the order and what tells how it ended; its scripts go,
and so does its terminal's log in the end. Nothing is touched of a run that lives, or whose step is still open. Replies
to requests go if nobody took them.
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

    from orchestrator.model.settings import LogSettings
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

PACKED: Final = f"{PANE_LOG}.gz"
_ENDS: Final = (EXIT, PID, CLAIMED)
"""What tells when a run was over: the first of them that is there."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A packed log: when its run was over, in seconds since the epoch, and its bytes."""

    ended_at: float
    size: int


def open_runs(state: PMState) -> set[str]:
    """Return the runs of which nothing may be packed: live ones, and those of steps that are not settled."""
    return {run.id for run in state.runs.values() if run.live or not state.steps[run.step].settled}


def spent_logs(kept: Mapping[str, Kept], bounds: LogSettings, at: float) -> list[str]:
    """Return the runs whose packed logs go: those too old, and the oldest of those that are too much together."""
    spent = []
    room = bounds.task_size
    for run in sorted(kept, key=lambda each: (kept[each].ended_at, each), reverse=True):
        room -= kept[run].size
        if room < 0 or at - kept[run].ended_at > bounds.keep:
            spent.append(run)
    return spent


@dataclass(slots=True)
class LogRetention:
    """The runs of one task that are over. `kept` are the packed logs, `done` the runs that need no more looks.

    `gathered` says that the work kept of its tries was put together since it is complete.
    """

    files: Files
    home: Path
    kept: dict[str, Kept] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    gathered: bool = False

    def tidy(self, state: PMState, bounds: LogSettings, at: float) -> None:
        """Pack what is over, and remove what is too much. May be repeated, and cut off anywhere.

        Raises:
            OSError: the disk cannot do it now.

        """
        runs = layout.task_runs(self.home)
        names = {entry.name for entry in self.files.entries(runs) if entry.is_folder}
        open_ = open_runs(state)
        self.done -= open_  # of a step that was opened again
        packed = [
            name for name in sorted(names - self.done - open_) if self._put_away(name, state.runs, bounds, at)
        ]
        # A step that was opened again keeps its logs.
        spent = spent_logs({run: kept for run, kept in self.kept.items() if run not in open_}, bounds, at)
        for run in spent:
            self.files.remove(runs / run / PACKED)
            del self.kept[run]
        self._drop_replies(at - bounds.pack_after)
        if packed or spent:
            log.info("task %s: %d logs of runs packed, %d dropped", self.home.name, len(packed), len(spent))

    def _drop_replies(self, before: float) -> None:
        """Remove the replies that nobody took: whoever asked has long given up."""
        folder = layout.task_requests(self.home)
        for entry in self.files.entries(folder):
            if entry.name.endswith(REPLY) and entry.mtime_ns / 1e9 < before:
                self.files.remove(folder / entry.name)

    def _put_away(self, run: str, known: Collection[str], bounds: LogSettings, at: float) -> bool:
        """Pack one run's log and remove its scripts, if it is over for long enough; return whether that was done."""
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
