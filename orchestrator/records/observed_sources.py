"""What the observer read: archives of handoffs, journals of tasks, and what of these it left out or could not read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.records.archive_files import UnreadRecord


class SourceKind(StrEnum):
    """Where records lie that the observer reads."""

    PROJECT = "project"  # data/handoffs of a project
    DAEMON = "daemon"  # the archive that `daemon.archive` names
    TASKS = "tasks"  # the journals of tasks, and the archive of handoffs in the folder of each
    ARCHIVED = "archived"  # the same of archived tasks (`task archive`)


@dataclass(frozen=True, slots=True)
class SourceRead:
    """A place that was read. `left_out`: handoffs, or tasks, that were found and do not belong into the report."""

    kind: SourceKind
    path: Path
    handoffs: int = 0
    tasks: int = 0
    left_out: int = 0

    @property
    def said(self) -> str:
        """What was read there, in words."""
        return f"{', '.join(self._counts())}{self._rest()}"

    def _counts(self) -> list[str]:
        handoffs = f"{self.handoffs} handoff{'' if self.handoffs == 1 else 's'}"
        if self.kind in {SourceKind.PROJECT, SourceKind.DAEMON}:
            return [handoffs]
        return [f"{self.tasks} task{'' if self.tasks == 1 else 's'}", handoffs]

    def _rest(self) -> str:
        if not self.left_out:
            return ""
        why = {
            SourceKind.PROJECT: "counted already",
            SourceKind.DAEMON: "of other projects, of unknown tasks, or counted already",
            SourceKind.TASKS: "of earlier days, or of other projects",
            SourceKind.ARCHIVED: "of earlier days, or of other projects",
        }[self.kind]
        return f"; {self.left_out} left out ({why})"


@dataclass(frozen=True, slots=True)
class Reading:
    """All that was read. `since`: the earliest day of an archive of handoffs that was looked into."""

    since: str
    sources: tuple[SourceRead, ...] = ()
    unread: tuple[UnreadRecord, ...] = ()
