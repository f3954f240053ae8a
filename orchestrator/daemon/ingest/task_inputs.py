"""What changes around one task without its daemon becomes facts: handoffs, events, runs, worktrees, task.md."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from orchestrator import layout
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.copied_values import copied_values
from orchestrator.daemon.ingest.agent_feed import AgentFeed
from orchestrator.daemon.ingest.brief_edits import BriefEdits
from orchestrator.daemon.ingest.file_activity import signs_of_work
from orchestrator.daemon.ingest.finished_writers import NOBODY, Stopped
from orchestrator.daemon.ingest.folder_repair import folder_seen, make_folder_again
from orchestrator.daemon.ingest.operations import OperationsIntake
from orchestrator.daemon.ingest.output_tail import last_lines
from orchestrator.daemon.ingest.role_statuses import archived_handoffs, handoff_facts, status_facts
from orchestrator.daemon.ingest.run_lifecycle import Grace, facts_of, far_facts_of, overdue
from orchestrator.daemon.ingest.task_intake import TaskIntake
from orchestrator.daemon.ingest.workflow_edits import WorkflowEdits
from orchestrator.daemon.journal.engine import Engine
from orchestrator.model.errors import BadFile
from orchestrator.model.facts import CheckedIn, LaunchFailed, RunGone, RunLeft
from orchestrator.model.question import QuestionKind
from orchestrator.model.task import ROLES
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.policies.operations import hands_in_by_operations
from orchestrator.pm.state.transitions import IllegalMove
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

    from orchestrator.daemon.core.task_paths import TaskPaths
    from orchestrator.daemon.ingest.finished_writers import Done
    from orchestrator.model.facts import Fact
    from orchestrator.model.run import Exit
    from orchestrator.pm.state.task_state import PMState

log = logging.getLogger(__name__)


class Actions(Protocol):
    """What looking at a task needs of whoever carries out its actions."""

    def gone(self, run: str) -> None:
        """Hear that a run is gone."""
        ...

    def fence(self, state: PMState, run: str) -> None:
        """Claim a run on a box that nobody claimed in time, so that it never starts."""
        ...

    def launch_error(self, run: str) -> str:
        """Return why the launch of a run failed; empty if that is not known."""
        ...

    def tend_trees(self, state: PMState, where: TaskPaths) -> None:
        """Look whether the worktrees exist in which somebody works."""
        ...


@dataclass(slots=True)
class TaskInputs:
    """Everything of a task that others write. All methods are called by the deciding thread.

    Args:
        context: what the daemon's tasks share.
        home: the task's own folder.
        engine: takes the facts.
        actions: whoever carries out the actions of the task.
        where: returns the task's folders, as they are now.
        behind: returns whether the projections are out of date: agents then edit an older text.

    """

    _context: Context
    _home: Path
    _engine: Engine
    _actions: Actions
    _where: Callable[[], TaskPaths]
    _behind: Callable[[], bool]
    _intake: TaskIntake = field(init=False)
    _operations: OperationsIntake = field(init=False)
    _brief: BriefEdits = field(init=False)
    _edits: WorkflowEdits = field(init=False)
    _agents: AgentFeed = field(init=False)
    _grace: Grace = field(default_factory=Grace, init=False)

    def __post_init__(self) -> None:
        """Begin as after a restart: nothing was seen yet."""
        files = self._context.adapters.files
        self._intake = TaskIntake(self._context, self._home, self._engine)
        self._operations = OperationsIntake(self._context, self._home, self._engine)
        self._brief = BriefEdits(files)
        self._edits = WorkflowEdits(files)
        self._agents = AgentFeed(
            self._context,
            self._home,
            self._engine,
            self.see_reports,
            lambda instance: self._intake.saving(self._where(), instance),
            self.see_turn_end,
            lambda run, words: self._operations.answered(self._where(), self._engine.state.runs[run], words),
        )

    @property
    def unsettled(self) -> Collection[str]:
        """The handoffs that may still be incomplete."""
        return self._intake.unsettled

    def forget(self) -> None:
        """Forget what was seen but not journaled."""
        self._intake.forget()
        self._operations.forget()
        self._brief.forget()
        self._agents.forget()

    def meter(self, share: float = math.inf) -> None:
        """Read how much the agents have used so far, as `AgentFeed.meter`."""
        self._agents.meter(share)

    def see_everything(self) -> bool:
        """Look at everything that may have changed; return what `see_brief` does.

        Runs before reports: whether a report may be incomplete depends on how its writer ended.
        """
        self.see_events()
        self.see_folder()
        for run in self._engine.state.live_runs:
            self.see_run(run.id)
        self.see_trees()
        self.meter()
        self.see_reports()
        self.see_workflow()
        self.see_role_statuses()
        self.see_archived_handoffs(None)
        return self.see_brief()

    def checked_in(self, at: float, *, asked: bool) -> CheckedIn:
        """Return the fact of a check-in, with the signs of work that are new since the last one."""
        files, novel = self._context.adapters.files, self._agents.novel
        signs = signs_of_work(files, self._where().task, self._engine.state, novel)
        return CheckedIn(at, self._context.nonce(), signs, asked)

    def see_reports(self, name: str = "", done: Done = NOBODY) -> None:
        """Handle new files in `handoffs/`: one name, or all; `done` are instances that have finished writing."""
        if not name:
            self.see_outboxes(done)
        try:
            facts = self._intake.look(self._where(), name, done)
        except (Unreadable, PermissionError):
            # Nobody can have written into something that is no folder. One that cannot be read is a question.
            self.see_folder(closely=True)
            facts = self._intake.look(self._where(), "", done)
        self._feed_each(facts)

    def see_outboxes(self, done: Done = NOBODY) -> None:
        """Publish what agents handed in through folders of their own; `done` are instances that finished writing."""
        self._feed_each(self._intake.publish(self._where(), done))

    def _feed_each(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            try:
                self._engine.feed(fact)
            except IllegalMove:  # one report must not hold up the others
                log.exception("task %s: a rule erred on %s; nothing was changed", self._home.name, fact)

    def see_turn_end(self, run: str, words: str, how: Exit | None = None) -> None:
        """Read what an agent of a workflow left when its turn ended, or its process, which ended like that."""
        try:
            fact = self._intake.turn_end(self._where(), run, words, how)
            if fact is not None:
                self._engine.feed(fact)
        except IllegalMove:
            log.exception(
                "task %s: a rule erred on the turn of %s; nothing was changed", self._home.name, run
            )

    def see_workflow(self, only: str | None = None) -> None:
        """Handle edits of a workflow's files: `only` the notes of one agent, or (empty) the shared status."""
        state = self._engine.state
        if state.brief.workflow is None or state.state not in ACTIVE:
            return
        shown = not (self._behind() or self._engine.dirty)
        at, nonce = self._context.clock.now(), self._context.nonce
        for fact in list(self._edits.look(self._where().task, state, at, nonce, only, shown=shown)):
            self._engine.feed(fact)

    def see_role_statuses(self, *, last: bool = False) -> None:
        """Handle what was written into the status files of role agents; `last`: before the end of a run is recorded."""
        state, at = self._engine.state, self._context.clock.now()
        if state.brief.config.family == ROLES and state.state in ACTIVE:
            for fact in status_facts(self._context, self._where().task, state, at, last=last):
                self._engine.feed(fact)

    def see_archived_handoffs(self, names: Collection[str] | None = (), *, last: bool = False) -> None:
        """Handle what was written into archived handoffs: the open ones and `names`, or (None) all of the task.

        `last`: before the end of a run is recorded.
        """
        state, at = self._engine.state, self._context.clock.now()
        if state.handoffs and (state.state in ACTIVE or self._behind()):
            folder = self._where().task
            for fact in handoff_facts(self._context, folder, state, at, names, last=last):
                self._engine.feed(fact)
            self._engine.dirty |= archived_handoffs(self._context, folder).is_free(state)

    def see_folder(self, *, closely: bool = False) -> None:
        """Repair the task's folder in its project as far as possible, and report what cannot be repaired.

        `closely` also tests whether it can be read.
        """
        state = self._engine.state
        if state.state in ACTIVE:
            fact = folder_seen(self._context, self._home, state, self._where().task, closely=closely)
            if fact is not None:
                self._engine.feed(fact)

    def make_folder_again(self, question: str, text: str) -> None:
        """Make the task's folder anew, if the answer to a question says so. Raises Refused."""
        make_folder_again(self._context, self._home, self._engine.state, self._where().task, question, text)

    def see_last_words(self, question: str) -> None:
        """Read the last words of a run before an answer that it is gone is handled (law 5)."""
        asked = self._engine.state.questions.get(question)
        if asked is not None and asked.open and asked.kind is QuestionKind.TERMINATION:
            self.see_reports(done={self._engine.state.runs[asked.run].instance: Stopped.RUN})

    def see_events(self) -> None:
        """Handle the events that agent programs reported."""
        self._agents.hear(self._where())

    def see_run(self, run: str) -> None:
        """Look at one run. If it is gone, its last words are read before that is recorded (law 5)."""
        known = self._engine.state.runs.get(run)
        if known is None or not known.live:
            return
        adapters, at, limits = (
            self._context.adapters,
            self._context.clock.now(),
            self._context.adapters.settings.limits,
        )
        if known.on_box:
            facts = far_facts_of(adapters.boxes, self._home, known, at)
            if overdue(adapters.files, adapters.boxes, self._home, known, at, limits):
                self._actions.fence(self._engine.state, run)
        else:
            facts = facts_of(adapters.files, adapters.host_seen(known), self._home, known, at, limits)
        for fact in facts:
            if isinstance(fact, RunLeft):
                if not (known.on_box or self._grace.is_over(run, self._context.clock.monotonic())):
                    continue
                self._grace.forget(run)
            if isinstance(fact, LaunchFailed) and (error := self._actions.launch_error(run)):
                fact = replace(fact, reason=f"{fact.reason} ({error})")  # noqa: PLW2901 (with the known cause)
            if isinstance(fact, RunGone):
                if hands_in_by_operations(self._engine.state, known):
                    self.see_events()  # the end of its turn may hold them
                if not self._operations.settled(self._where(), known, fact.exit):
                    return
                self._grace.forget(run)
                hidden = copied_values(adapters.files, self._engine.state.brief.config, self._where().code)
                lines = last_lines(adapters.files, layout.run_home(self._home, run), hidden)
                fact = replace(fact, lines=lines)  # noqa: PLW2901 (with what it printed)
                self._agents.gone(run, self._where())
                self._actions.gone(run)
                self.see_folder()  # a report may be missing because its folder is
                how = Stopped.KILLED if fact.exit.code is None else Stopped.RUN
                self.see_reports(done={known.instance: how})
                self.see_turn_end(run, "\n".join(fact.lines), fact.exit)
                self.see_role_statuses(last=True)
                self.see_archived_handoffs(last=True)
            self._engine.feed(fact)

    def see_trees(self) -> None:
        """Look whether the worktrees exist in which somebody works."""
        self._actions.tend_trees(self._engine.state, self._where())

    def see_brief(self) -> bool:
        """Handle an edited task.md; one that cannot be parsed is reported and otherwise ignored.

        If the task has ended, this is left to its next start, which sees by it that there is more to do.

        Returns:
            whether the fault of task.md that the projections show is another one now.

        """
        state = self._engine.state
        if state.state not in ACTIVE:
            return False
        fact, fault = None, self._brief.fault
        try:
            fact = self._brief.look(layout.task_brief(self._where().task), state, self._context.clock.now())
        except (BadFile, Unreadable) as error:
            self._engine.say(f"the edited task.md is ignored: {error}")
        is_new = self._brief.fault != fault
        self._engine.dirty |= is_new
        if fact is not None:
            self._engine.feed(fact)
        return is_new

    @property
    def brief_fault(self) -> str:
        """Why the edited task.md cannot be read; empty if it can, or if the task has ended."""
        return self._brief.fault if self._engine.state.state in ACTIVE else ""

    def see_what_is_due(self, at: float) -> None:
        """Look again at handoffs that may have been incomplete, and at the archived ones that are open."""
        self.see_archived_handoffs()
        if (again := self._intake.look_again(at)) is not None and at >= again:
            for name in self._intake.unsettled:
                self.see_reports(name)
        if (again := self._intake.publish_again(at)) is not None and at >= again:
            self.see_outboxes()

    def see_leftovers(self) -> None:
        """Look again at runs whose processes were given time to end."""
        for run in self._grace.due(self._context.clock.monotonic()):
            self.see_run(run)

    def moments(self, now: float) -> Iterator[float]:
        """Yield when something is to be looked at again, by the wall clock."""
        for again in (self.edit_due, self._intake.look_again(now), self._intake.publish_again(now)):
            if again is not None:
                yield again
        if self._engine.state.handoffs:
            due = archived_handoffs(self._context, self._where().task).due(self._engine.state)
            yield from () if due is None else (due,)
        for moment in self._grace.moments:
            yield moment + now - self._context.clock.monotonic()

    @property
    def edit_due(self) -> float | None:
        """When to look at task.md again; an ended task looks at it only when it is started."""
        return self._brief.due_at if self._engine.state.state in ACTIVE else None
