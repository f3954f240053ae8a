"""The records of a task of roles, written from its state: `data/handoffs/` (C6) and `data/agent-status/` (C4)."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.archived_handoffs import ArchivedHandoffs
from orchestrator.daemon.core.role_statuses import RoleStatusFiles
from orchestrator.daemon.core.workflow_folder import DataFolder
from orchestrator.model.errors import Refused
from orchestrator.model.task import TaskState
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.records.archive import open_archive
from orchestrator.records.shared_archive import open_shared

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from orchestrator.model.coordination import HandoffRecord
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files
    from orchestrator.records.archive import HandoffArchive

_GIVEN_UP: Final = frozenset({TaskState.PARTIAL, TaskState.FAILED})


@dataclass(slots=True)
class RoleFiles:
    """Shows the handoffs and the statuses of one task. `folder` is the task's own.

    `root` is the archive of all tasks; None: each has one of its own.

    The journal has them all, so nothing is lost while the archive cannot be written. `_shown` are those that it has,
    as they were written last; a daemon that begins knows of none, and writes all: what is there already stays.
    """

    files: Files
    folder: Path
    root: Path | None = None
    _shown: dict[str, HandoffRecord] = field(default_factory=dict)
    _given_up: bool = False
    _seen: PMState | None = None
    behind: bool = False
    """Whether something could not be written the last time."""

    def show(self, state: PMState, at: float) -> None:
        """Write what has changed; nothing for a task of another family.

        Raises:
            Refused: a link or something else lies in the way.
            OSError: the disk fails.

        """
        self._show_handoffs(state)
        self._show_statuses(state, at)

    def _show_handoffs(self, state: PMState) -> None:
        archived = ArchivedHandoffs(self.files, self.root or layout.role_handoffs(self.folder))
        news = {
            key: each
            for key, each in state.handoffs.items()
            if self._shown.get(key) is not each or archived.is_refused(each)
        }
        given_up = state.state in _GIVEN_UP
        if not state.handoffs or not (news or given_up != self._given_up):
            return
        self.behind = True
        if self.root is None and self.files.entry(self.folder) is None:
            raise Refused(f"{self.folder} is gone")  # made here, it would be another folder
        written = {key: each for key, each in news.items() if archived.publish(each)}
        if not written and news:
            return  # each has an edit that is told first
        try:
            with self._archive() as archive:
                for key, record in written.items():
                    archive.take(record.handoff, started=state.started_at or None)
                    self._shown[key] = record
                if given_up:
                    archive.give_up(state.id, max(step.since for step in state.steps.values()))
        except Refused:
            self._shown.clear()  # somebody changed the archive: the next time it is read, and written, anew
            raise
        self._given_up, self.behind = given_up, len(written) < len(news)
        if state.state not in ACTIVE and not self.behind:
            for record in state.handoffs.values():
                archived.let_go(record)

    def _show_statuses(self, state: PMState, at: float) -> None:
        if state is not self._seen:
            before, self.behind = self.behind, True
            RoleStatusFiles(DataFolder(self.files, self.folder)).publish(state, at)
            self._seen, self.behind = state, before

    def _archive(self) -> AbstractContextManager[HandoffArchive]:
        if self.root is not None:
            return open_shared(self.files, self.root)
        return nullcontext(open_archive(self.files, layout.role_handoffs(self.folder)))
