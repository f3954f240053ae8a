"""Files for readers of a task, written by a thread of their own: state.json, pm_state.json, and progress.md.

Everything that changes during one write goes into the next one. A state is immutable, so the thread works on the one
that it was given, and the deciding thread waits for no disk but the journal's.

state.json is written at once. The two documents in the task's folder are always written whole: those of a large plan
are written at a limited rate, so that the bytes written per step do not grow with the plan.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Final

from orchestrator.daemon.core.worker_pool import Executor
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.daemon.projections.outcome import Outcome, outcome_of
from orchestrator.daemon.projections.progress_view import pm_view
from orchestrator.daemon.projections.role_files import RoleFiles
from orchestrator.daemon.projections.skill_files import SkillFiles
from orchestrator.daemon.projections.state_document import NOTHING, Unjournaled
from orchestrator.daemon.projections.state_files import FEW, Shown, write_pm_state
from orchestrator.daemon.projections.work_done import BranchLook
from orchestrator.daemon.projections.workflow_files import WorkflowFiles
from orchestrator.model.actions import Rebase, Undo
from orchestrator.model.errors import OrchestratorError
from orchestrator.model.limits import Limits
from orchestrator.model.task import TaskState
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.clock import Clock
from orchestrator.ports.files import Files
from orchestrator.scribe.scribe import Scribe

log = logging.getLogger(__name__)

SMALL: Final = 16_384
"""Bytes up to which the documents are written whenever something changed."""

RATE: Final = 800.0
"""Bytes per second for larger ones: those of 1,000 subtasks are at most ten minutes old, like a check-in."""


@dataclass(slots=True)
class _Pending:
    """What changed since the last write: for state.json, for the documents, and for the scribe."""

    state: PMState | None = None
    documents: PMState | None = None
    names: set[str] = field(default_factory=set)
    rescan: bool = False

    def merge(self, older: _Pending) -> None:
        """Add what could not be written before."""
        self.state = self.state or older.state
        self.documents = self.documents or older.documents
        self.names |= older.names
        self.rescan |= older.rescan


@dataclass(slots=True)
class ProjectionWriter:
    """Writes the projections of one task. `home` is its own folder, `folder` the one in its project.

    `limits` are those of the settings, and `archive` their folder for the handoffs of all tasks, if they name one.

    `look` looks at the task's branch; None if it has none. It is called when more of the plan has passed, when the
    state or the base of the task changed, and at each check-in; the page says when the branch was seen. `put_back` is
    told of files that had been changed, and are put back.
    """

    files: Files
    clock: Clock
    executor: Executor
    scribe: Scribe
    home: Path
    folder: Path
    limits: Limits = field(default_factory=Limits)
    archive: Path | None = None
    look: Callable[[PMState], BranchLook | None] = lambda _: None
    put_back: Callable[[str], None] = lambda _: None
    _news: _Pending = field(default_factory=lambda: _Pending(rescan=True))
    _view: tuple[PMState, float, Unjournaled] | None = None
    _taking: Lock = field(default_factory=Lock)
    _writing: Lock = field(default_factory=Lock)
    _queued: bool = False
    _shown: Shown = field(init=False)
    _workflow: WorkflowFiles = field(init=False)
    _roles: RoleFiles = field(init=False)
    _skill: SkillFiles = field(init=False)
    _next_at: float = 0.0
    _urgent: tuple[TaskState, tuple[str, ...]] | None = None
    _looked: BranchLook | None = None
    _looked_for: tuple[TaskState, int, str, bool] | None = None
    _outcome: Outcome | None = None

    def __post_init__(self) -> None:
        """Begin without knowing what was written before."""
        self._shown = Shown(self.files, self.home, self.limits)
        self._workflow = WorkflowFiles(WorkflowFolder(self.files, self.folder))
        self._roles = RoleFiles(self.files, self.folder, self.archive)
        self._skill = SkillFiles(self.files, self.home, self.put_back)

    def submit(
        self,
        state: PMState,
        last_checkin: float,
        names: Iterable[str] = (),
        *,
        changed: bool = False,
        rescan: bool = False,
        unjournaled: Unjournaled = NOTHING,
    ) -> None:
        """Take in changes: `names` are new in the task's folder, `changed`: the state is."""
        with self._taking:
            self._view = state, last_checkin, unjournaled
            if changed:
                self._news.state = self._news.documents = state
            self._news.names.update(names)
            self._news.rescan |= rescan

    @property
    def looked(self) -> BranchLook | None:
        """The last look at the task's branch; None if there was none. Any thread may ask."""
        return self._looked

    def again(self) -> None:
        """Have everything that lies in the task's folder looked at once more, soon. Any thread may call it."""
        with self._taking:
            self._news.rescan = True
        self.soon()

    @property
    def behind(self) -> bool:
        """Return whether something is not shown yet: it is new, could not be written, or waits for its turn."""
        news = self._news
        waits = (news.state or news.documents) is not None or bool(news.names) or news.rescan
        return waits or self._roles.behind

    def soon(self) -> None:
        """Have the pending changes written by a worker; large documents when their time comes."""
        with self._taking:
            if self._queued:
                return
            self._queued = True
        self.executor.do(f"{self.home.name}/show", self._work)

    def end(self) -> None:
        """Write nothing more, after the write that is in progress."""
        with self._writing, self._taking:
            self._view = None

    def now(self) -> None:
        """Write all pending changes, before this returns. What fails is written the next time."""
        self._work(everything=True)

    def _work(self, *, everything: bool = False) -> None:
        with self._writing:
            with self._taking:
                news, self._news, view, self._queued = self._news, _Pending(), self._view, False
            if view is None:
                return
            try:
                self._write(news, *view, everything=everything)
                self._roles.show(view[0], self.clock.now())
                self._skill.show(view[0])
            except (OrchestratorError, OSError) as error:
                log.warning("the projections of %s could not be written now: %s", self.home.name, error)
                with self._taking:
                    self._news.merge(news)

    def _write(
        self,
        news: _Pending,
        state: PMState,
        last_checkin: float,
        unjournaled: Unjournaled,
        *,
        everything: bool,
    ) -> None:
        at = self.clock.now()
        urgent = state.state, tuple(question.id for question in state.open_questions)
        documents = everything or urgent != self._urgent or self.clock.monotonic() >= self._next_at
        if documents:
            self._look_at_branch(state, again=news.rescan)
        shown = self._outcome
        if documents or len(state.steps) <= FEW:  # it visits every step, which is slow for a large plan
            self._outcome = outcome_of(state, self._looked)
        if news.state is not None or self._outcome != shown or (documents and news.rescan):
            self._shown.write(news.state or state, last_checkin, at, self._outcome, unjournaled)
            self._workflow.show(news.state or state, at)
            news.state = None
        if documents:
            self._write_documents(news, state, last_checkin, at, unjournaled.brief_fault)
            self._urgent = urgent
        else:
            with self._taking:
                self._news.merge(news)

    def _look_at_branch(self, state: PMState, *, again: bool) -> None:
        # Whether somebody works counts for a task at rest only: one that is stopped has agents that are being ended.
        works = state.state in ACTIVE or bool(state.live_runs)
        wanted = state.state, state.steps.passed, state.base, works
        if any(isinstance(action, Rebase | Undo) for action in state.outbox.values()):
            # It has its new base, and not its new commits yet: no count is right between the two.
            self._looked = self._looked_for = None
        elif again or wanted != self._looked_for:
            self._looked, self._looked_for = self.look(state), wanted

    def _write_documents(
        self, news: _Pending, state: PMState, last_checkin: float, at: float, brief_fault: str
    ) -> None:
        size = 0
        if news.documents is not None:
            size = write_pm_state(self.files, self.folder, news.documents, last_checkin=last_checkin, at=at)
        view = replace(pm_view(state, last_checkin, self._looked), brief_fault=brief_fault)
        if news.rescan:
            self.scribe.rescan(view, at)
        else:
            self.scribe.notice(sorted(news.names), view, at)
        size += self.scribe.size
        self._next_at = self.clock.monotonic() + (size / RATE if size > SMALL else 0.0)
