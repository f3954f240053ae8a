"""The archive of what roles handed on in a task, written from its state (C6): `data/handoffs/` in the task's folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.model.task import TaskState
from orchestrator.records.archive import open_archive

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.coordination import HandoffRecord
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

_GIVEN_UP: Final = frozenset({TaskState.PARTIAL, TaskState.FAILED})


@dataclass(slots=True)
class RoleFiles:
    """Shows the handoffs of one task. `folder` is the task's own.

    The journal has them all, so nothing is lost while the archive cannot be written. `_shown` are those that it has,
    as they were written last; a daemon that begins knows of none, and writes all: what is there already stays.
    """

    files: Files
    folder: Path
    _shown: dict[str, HandoffRecord] = field(default_factory=dict)
    _given_up: bool = False
    behind: bool = False
    """Whether the archive could not be written the last time."""

    def show(self, state: PMState) -> None:
        """Write what has changed; nothing for a task whose roles handed on nothing.

        Raises:
            Refused: a link or something else lies in the way.
            OSError: the disk fails.

        """
        news = {key: each for key, each in state.handoffs.items() if self._shown.get(key) is not each}
        given_up = state.state in _GIVEN_UP
        if not state.handoffs or not (news or given_up != self._given_up):
            return
        self.behind = True
        archive = open_archive(self.files, layout.role_handoffs(self.folder))
        for key, record in news.items():
            archive.take(record.handoff, started=state.started_at or None)
            self._shown[key] = record
        if given_up:
            archive.give_up(state.id, max(step.since for step in state.steps.values()))
        self._given_up, self.behind = given_up, False
