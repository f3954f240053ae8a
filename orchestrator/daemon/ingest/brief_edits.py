"""Edits of task.md become facts; one that is changed again and again, less and less often."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from orchestrator.daemon.ingest.change_backoff import ChangeBackoff
from orchestrator.formats.task_file import read_brief
from orchestrator.model.config_changes import config_changes
from orchestrator.model.errors import BadFile
from orchestrator.model.facts import BriefChanged
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

_BRIEF: Final = "task.md"
_MOST: Final = 1 << 20
"""Largest task.md that is read, in bytes."""


@dataclass(slots=True)
class BriefEdits:
    """Watches one task's task.md. Each edit costs a journal line with the whole of it, and may reopen a judge.

    `fault` is why the last edit is not in force, with its line; empty if it is.
    """

    files: Files
    fault: str = ""
    _stamp: tuple[int, int, int] | None = None
    _backoff: ChangeBackoff = field(default_factory=ChangeBackoff)
    _waits: bool = False

    @property
    def due_at(self) -> float | None:
        """Return when to look at an edit that is not handled yet, in seconds since the epoch; None if there is none."""
        return self._backoff.due_at(_BRIEF) if self._waits else None

    def look(self, path: Path, state: PMState, at: float) -> BriefChanged | None:
        """Return the fact for an edit that asks for something else; None if there is none, or it waits.

        Raises:
            BadFile: it cannot be parsed.
            Unreadable: it cannot be read.

        """
        entry = self.files.entry(path)
        stamp = (entry.inode, entry.mtime_ns, entry.size) if entry else None
        news = stamp is not None and stamp != self._stamp
        self._waits = news and self._backoff.waits(_BRIEF, at)
        if not news or self._waits:
            return None
        self._stamp = stamp
        try:
            brief = read_brief(self.files.read(path, _MOST), _BRIEF)
        except (BadFile, Unreadable) as error:
            self.fault = str(error)
            raise
        self.fault = f"{_BRIEF}: it is the blank template" if brief.unfilled else ""
        asks = (brief.goal, brief.criteria) != (state.brief.goal, state.brief.criteria)
        edited = config_changes(state.brief.config, brief.config) != state.edited
        if brief.unfilled or not (asks or edited):
            return None
        self._backoff.count(_BRIEF, at)
        return BriefChanged(at, brief)

    def forget(self) -> None:
        """Look at it again, though it did not change: what was seen may not have been journaled."""
        self._stamp = None
