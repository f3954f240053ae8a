"""What is shown of a task: written by a thread of its own, soon after something has changed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.hints import OutcomeHint
from orchestrator.daemon.core.memory_files import CHANGED
from orchestrator.daemon.core.task_paths import TaskPaths, code_of, tree_of
from orchestrator.daemon.journal.engine import Engine
from orchestrator.daemon.projections.projection_writer import ProjectionWriter
from orchestrator.daemon.projections.state_document import Unjournaled
from orchestrator.daemon.projections.work_done import BranchLook, Unfinished
from orchestrator.model.errors import OrchestratorError
from orchestrator.model.facts import EditsRefused
from orchestrator.model.plan import Gate
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.state.results import accepted_work
from orchestrator.scribe.scribe import Scribe
from orchestrator.workspaces.branch_files import commit_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from orchestrator.pm.state.task_state import PMState

log = logging.getLogger(__name__)


class TaskView:
    """The projections of one task. Called by the deciding thread."""

    def __init__(self, context: Context, home: Path, engine: Engine) -> None:
        self._context = context
        self._home = home
        self._engine = engine
        self._writer: ProjectionWriter | None = None
        self._where: TaskPaths | None = None
        self._waiting: dict[str, str] = {}

    @property
    def behind(self) -> bool:
        """Return whether the projections are out of date: they wait for their turn, or could not be written."""
        return self._writer is not None and self._writer.behind

    def again(self) -> None:
        """Repeat a write that failed."""
        if self._writer is not None and self.behind:
            self._writer.soon()

    def now(self) -> None:
        """Write what is pending, before this returns. Any thread may call it."""
        if self._writer is not None:
            self._writer.now()

    def rescan(self) -> None:
        """Have everything that lies in the task's folder looked at once more, soon. Any thread may call it."""
        if self._writer is not None:
            self._writer.again()

    def see_branch(self) -> None:
        """Show the result of a task at rest again if its branch is not where it was seen last: its user moved it."""
        state = self._engine.state
        looked = None if self._writer is None else self._writer.looked
        if state.state in ACTIVE or not state.base or looked is None or looked.fault:
            return
        here = commit_of(str(code_of(state.project, state.brief)), state.branch)
        seen = looked.seen
        if here is not None and here != (seen.tip if seen is not None and not seen.gone else ""):
            self.rescan()

    def end(self) -> None:
        """Write nothing any more."""
        if self._writer is not None:
            self._writer.end()

    def show(
        self,
        where: TaskPaths,
        beside: Unjournaled,
        names: Sequence[str] = (),
        *,
        rescan: bool = False,
        now: bool = False,
    ) -> bool:
        """Update the projections, if anything has changed; return whether the state has.

        Args:
            where: the task's folders.
            beside: what is shown beside the state.
            names: what is new or changed in the task's folder, for the scribe.
            rescan: the scribe must look at everything.
            now: write before this returns; otherwise soon.

        """
        engine = self._engine
        if beside.waiting != self._waiting:
            self._waiting, engine.dirty = dict(beside.waiting), True
        if not engine.state.id or not (engine.dirty or names or rescan or now):
            return False
        changed, engine.dirty = engine.dirty, False
        self._where = where
        writer = self._writer_for(where.task)
        writer.submit(
            engine.state, engine.last_checkin, names, changed=changed, rescan=rescan, unjournaled=beside
        )
        if now:
            writer.now()
        else:
            writer.soon()
        return changed

    def _writer_for(self, folder: Path) -> ProjectionWriter:
        if self._writer is None:
            context = self._context
            files, limits = context.adapters.files, context.adapters.settings.limits
            archive = context.adapters.settings.daemon.archive
            self._writer = ProjectionWriter(
                files,
                context.clock,
                context.scribe_executor,
                Scribe(files, folder, handoff_bytes=limits.max_handoff_bytes),
                self._home,
                folder,
                limits,
                folder.__class__(archive) if archive else None,
                self._look_at_branch,
                self._put_back,
            )
        return self._writer

    def _put_back(self, path: str) -> None:
        """Have the user told of a file that is put back. Called by the thread that writes the projections."""
        fact = EditsRefused(self._context.clock.now(), f"{path}:put-back", (CHANGED,), path)
        self._context.post(OutcomeHint(self._engine.state.id, fact))

    def _look_at_branch(self, state: PMState) -> BranchLook | None:
        """Look at the task's branch, for its projections. Called by the thread that writes them."""
        if not state.base:
            return None
        at, workspaces = self._context.clock.now(), self._context.adapters.workspaces
        try:
            code = code_of(state.project, state.brief)
            seen = workspaces.survey(code, state.branch, state.base, state.tip)
            return BranchLook(at, seen, unfinished=tuple(self._unfinished(state)))
        except (OrchestratorError, OSError) as error:
            return BranchLook(at, fault=str(error))

    def _unfinished(self, state: PMState) -> Iterator[Unfinished]:
        """Yield what the steps of a task that rests left in their worktrees. While somebody works, it changes."""
        if state.state in ACTIVE or state.live_runs or self._where is None:
            return
        accepted, workspaces = accepted_work(state), self._context.adapters.workspaces
        for step in state.steps.among(state.steps.unsettled | state.steps.passed):
            if Gate.COMMIT not in step.gates or not step.began_at or step.id in accepted:
                continue
            tree = tree_of(state, step, self._where)
            if tree is not None and (files := workspaces.unfinished(tree)):
                yield Unfinished(step.id, len(files), str(tree.path))
