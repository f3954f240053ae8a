"""One task in the daemon: reads its files, feeds its engine, has its actions carried out."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from operator import is_not
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.actions.admission import leases_of
from orchestrator.daemon.actions.dispatcher import Dispatcher
from orchestrator.daemon.boxes.task_boxes import TaskBoxes
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.copied_values import copied_values
from orchestrator.daemon.core.task_paths import TaskPaths, code_of
from orchestrator.daemon.ingest.agent_feed import GROWN, AgentFeed
from orchestrator.daemon.ingest.brief_edits import BriefEdits
from orchestrator.daemon.ingest.file_activity import signs_of_work
from orchestrator.daemon.ingest.finished_writers import NOBODY, Stopped
from orchestrator.daemon.ingest.folder_repair import folder_seen, make_folder_again
from orchestrator.daemon.ingest.operations import OperationsIntake
from orchestrator.daemon.ingest.role_statuses import status_facts
from orchestrator.daemon.ingest.run_lifecycle import Grace, facts_of, far_facts_of, overdue
from orchestrator.daemon.ingest.task_intake import TaskIntake
from orchestrator.daemon.ingest.workflow_edits import WorkflowEdits
from orchestrator.daemon.journal.engine import Engine
from orchestrator.daemon.process.orphans import Strangers
from orchestrator.daemon.projections.output_tail import last_lines
from orchestrator.daemon.projections.state_document import Unjournaled
from orchestrator.daemon.projections.state_files import last_checkin_shown, write_lost
from orchestrator.daemon.projections.task_view import TaskView
from orchestrator.daemon.projections.workflow_events import WorkflowEvents
from orchestrator.model.actions import Action
from orchestrator.model.errors import BadFile
from orchestrator.model.facts import BoxBack, CheckedIn, LaunchFailed, RunGone, RunLeft, TimePassed
from orchestrator.model.question import QuestionKind
from orchestrator.model.task import ROLES
from orchestrator.pm.handlers.deadlines import wake_at
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.policies.operations import hands_in_by_operations
from orchestrator.pm.state.transitions import IllegalMove
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from orchestrator.daemon.ingest.finished_writers import Done
    from orchestrator.model.facts import Fact
    from orchestrator.model.run import Exit
    from orchestrator.pm.state.draft import Decision
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.workspaces.leases import Lease

log = logging.getLogger(__name__)

REST: Final = 5.0
"""Seconds until a task is retried after a system failure, such as a full disk."""

SOON: Final = 0.5
"""Seconds until something that may still be incomplete is looked at again."""


@dataclass(slots=True)
class Task:
    """A task whose journal is open. All methods are called by the deciding thread."""

    context: Context
    home: Path
    engine: Engine = field(init=False)
    doing: Dispatcher = field(init=False)
    _listening: AgentFeed = field(init=False)
    _boxes: TaskBoxes = field(init=False)
    _strangers: Strangers = field(init=False)
    _view: TaskView = field(init=False)
    _intake: TaskIntake = field(init=False)
    _operations: OperationsIntake = field(init=False)
    _brief: BriefEdits = field(init=False)
    template: Path | None = field(default=None, init=False)
    _rests_until: float | None = field(default=None, init=False)
    _looked_at: float = field(default=0.0, init=False)
    _lies: tuple[tuple[object, ...], TaskPaths] | None = field(default=None, init=False)
    _edits: WorkflowEdits = field(init=False)
    _events: WorkflowEvents = field(init=False)
    _grace: Grace = field(default_factory=Grace, init=False)
    _deadline_of: tuple[PMState, float | None] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Open the journal."""
        settings = self.context.adapters.settings
        self.doing = Dispatcher(self.context, self.id, self.home)
        self._edits = WorkflowEdits(self.context.adapters.files)
        self._events = WorkflowEvents(self.context.adapters.files, self.home)
        self._brief = BriefEdits(self.context.adapters.files)
        self.engine = Engine(
            self.context.adapters.files,
            self.home,
            settings.limits,
            self._act,
            settings.logs.size,
            self.context.clock.utc_offset,
            self._note_events,
        )
        self._strangers = Strangers(self.context, self.id)
        self._boxes = TaskBoxes(self.context, self.home, self.engine)
        self._view = TaskView(self.context, self.home, self.engine)
        self._intake = TaskIntake(self.context, self.home, self.engine)
        self._operations = OperationsIntake(self.context, self.home, self.engine)
        self._listening = AgentFeed(
            self.context,
            self.home,
            self.engine,
            self.see_reports,
            lambda instance: self._intake.saving(self.where, instance),
            self.see_turn_end,
            lambda run, words: self._operations.answered(self.where, self.engine.state.runs[run], words),
        )

    @property
    def id(self) -> str:
        """The task's id, which names its own folder."""
        return self.home.name

    @property
    def begun(self) -> bool:
        """Return whether `task start` was handled."""
        return bool(self.engine.state.id)

    @property
    def rests(self) -> bool:
        """Return whether the task has ended or was stopped, and none of its runs is left."""
        return self.engine.state.state not in ACTIVE and not self.engine.state.live_runs

    @property
    def is_over(self) -> bool:
        """Return whether the task rests, waits for no answer or action, and its projections are up to date."""
        state = self.engine.state
        busy = state.outbox or self.doing.busy or self.doing.housekeeping_waits
        waits = busy or state.open_questions or self.troubled or self._boxes.unfetched
        unread = self._intake.unsettled
        unshown = self.begun and (self.behind or self.engine.dirty)
        return self.rests and not (waits or unread or unshown)

    @property
    def where(self) -> TaskPaths:
        """Return where the task is. Called at every turn, so it is computed anew only when something changed."""
        state = self.engine.state
        inputs = (state.project, state.name, state.brief, self.template)
        if self._lies is None or any(map(is_not, inputs, self._lies[0])):
            project = self.home.__class__(state.project)
            trees = layout.task_worktrees(self.context.state_folder, self.id)
            code = code_of(state.project, state.brief)
            task = layout.task_folder(project, state.name)
            self._lies = inputs, TaskPaths(code, self.home, task, trees, self.template)
        return self._lies[1]

    @property
    def behind(self) -> bool:
        """Return whether the projections are out of date: they wait for their turn, or could not be written."""
        return self._view.behind

    # Rest --------------------------------------------------------------------------------------------

    @property
    def troubled(self) -> bool:
        """Return whether the task rests because of a system failure, or while runs are ended that it does not know."""
        return self._rests_until is not None

    @property
    def rested(self) -> bool:
        """Return True once when a rest is over: then the task must be recovered as after a restart."""
        until = self._rests_until
        if until is None or self._strangers.is_busy or self.context.clock.monotonic() < until:
            return False
        self._rests_until = None
        return True

    def rest(self) -> None:
        """Do nothing for a while, then look at everything again: what was seen but not journaled is forgotten."""
        self._rests_until = self.context.clock.monotonic() + REST
        self._intake.forget()
        self._operations.forget()
        self._brief.forget()
        self._listening.forget()
        self.doing.forget()

    # Facts in ----------------------------------------------------------------------------------------

    def feed(self, *facts: Fact) -> Decision | None:
        """Feed facts in order; the last decision is returned."""
        decision = None
        for fact in facts:
            decision = self.engine.feed(fact)
        return decision

    def recover(self) -> None:
        """Find out what happened while no daemon was watching (law 3).

        First the runs, each with its last reports; then the open actions of the outbox: each is observed before it is
        repeated.
        """
        self.engine.own_damage(self.context.clock.now(), self.context.nonce())
        if not self.begun:
            if kept := self.engine.lost():
                log.error("task %s: its journal cannot be read and is kept as %s", self.id, kept)
                text = f"It is kept as {kept}. Start the task again; its handoffs are history then."
                self.context.desk.report(f"lost {self.id}", f"the journal of {self.id} cannot be read", text)
                write_lost(self.context.adapters.files, self.home, kept, self.context.clock.now())
            return
        self.engine.last_checkin = self.engine.last_checkin or last_checkin_shown(
            self.context.adapters.files, self.home
        )
        self._events.catch_up(self.where.task, self.engine.state, self.engine.lines)
        if not self._strangers.ended(self.strangers()):  # the next runs need their trees
            self.rest()
            self._rests_until = self.context.clock.monotonic()
            return
        self.see_everything()
        self.act_again()

    def act_again(self) -> None:
        """Repeat every action whose outcome is not known, and every failed write of projections.

        An action that was done is recognised by looking (law 4).
        """
        for action in list(self.engine.state.outbox.values()):
            self._act(self.engine, action)
        self._view.again()

    def strangers(self) -> list[Path]:
        """Return the folders of the runs that the journal does not know."""
        runs = layout.task_runs(self.home)
        found = self.context.adapters.files.entries(runs)
        return [runs / each.name for each in found if each.name not in self.engine.state.runs]

    def see_everything(self) -> None:
        """Look at everything that may have changed: events, runs, reports, task.md.

        Runs before reports: whether a report may be incomplete depends on how its writer ended.
        """
        self.see_boxes()
        self.see_events()
        self.see_folder()
        for run in self.engine.state.live_runs:
            self.see_run(run.id)
        self.see_trees()
        self._listening.meter()
        self.see_reports()
        self.see_workflow()
        self.see_role_statuses()
        self.see_brief()

    def see_reports(self, name: str = "", done: Done = NOBODY) -> None:
        """Handle new files in `handoffs/`: one name, or all; `done` are instances that have finished writing."""
        if not name:
            self.see_outboxes(done)
        try:
            facts = self._intake.look(self.where, name, done)
        except (Unreadable, PermissionError):
            # Nobody can have written into something that is no folder. One that cannot be read is a question.
            self.see_folder(closely=True)
            facts = self._intake.look(self.where, "", done)
        self._feed_each(facts)

    def see_outboxes(self, done: Done = NOBODY) -> None:
        """Publish what agents handed in through folders of their own; `done` are instances that finished writing."""
        self._feed_each(self._intake.publish(self.where, done))

    def _feed_each(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            try:
                self.feed(fact)
            except IllegalMove:  # one report must not hold up the others
                log.exception("task %s: a rule erred on %s; nothing was changed", self.id, fact)

    def see_turn_end(self, run: str, words: str, how: Exit | None = None) -> None:
        """Read what an agent of a workflow left when its turn ended, or its process, which ended like that."""
        try:
            fact = self._intake.turn_end(self.where, run, words, how)
            if fact is not None:
                self.feed(fact)
        except IllegalMove:
            log.exception("task %s: a rule erred on the turn of %s; nothing was changed", self.id, run)

    def see_workflow(self, only: str | None = None) -> None:
        """Handle edits of a workflow's files: `only` the notes of one agent, or (empty) the shared status."""
        state = self.engine.state
        if state.brief.workflow is None or state.state not in ACTIVE:
            return
        shown = not (self.behind or self.engine.dirty)
        at, nonce = self.context.clock.now(), self.context.nonce
        for fact in list(self._edits.look(self.where.task, state, at, nonce, only, shown=shown)):
            self.feed(fact)

    def see_role_statuses(self, *, last: bool = False) -> None:
        """Handle what was written into the status files of role agents; `last`: before the end of a run is recorded."""
        state, at = self.engine.state, self.context.clock.now()
        if state.brief.config.family == ROLES and state.state in ACTIVE:
            for fact in status_facts(self.context, self.where.task, state, at, last=last):
                self.feed(fact)

    def see_folder(self, *, closely: bool = False) -> None:
        """Repair the task's folder in its project as far as possible, and report what cannot be repaired.

        `closely` also tests whether it can be read.
        """
        state = self.engine.state
        if state.state in ACTIVE:
            fact = folder_seen(self.context, self.home, state, self.where.task, closely=closely)
            if fact is not None:
                self.feed(fact)

    def make_folder_again(self, question: str, text: str) -> None:
        """Make the task's folder anew, if the answer to a question says so. Raises Refused."""
        make_folder_again(self.context, self.home, self.engine.state, self.where.task, question, text)

    def see_last_words(self, question: str) -> None:
        """Read the last words of a run before an answer that it is gone is handled (law 5)."""
        asked = self.engine.state.questions.get(question)
        if asked is not None and asked.open and asked.kind is QuestionKind.TERMINATION:
            self.see_reports(done={self.engine.state.runs[asked.run].instance: Stopped.RUN})

    def see_events(self) -> None:
        """Handle the events that agent programs reported."""
        self._listening.hear(self.where)

    def see_run(self, run: str) -> None:
        """Look at one run. If it is gone, its last words are read before that is recorded (law 5)."""
        known = self.engine.state.runs.get(run)
        if known is None or not known.live:
            return
        adapters, at, limits = (
            self.context.adapters,
            self.context.clock.now(),
            self.context.adapters.settings.limits,
        )
        if known.on_box:
            facts = far_facts_of(adapters.boxes, self.home, known, at)
            if overdue(adapters.files, adapters.boxes, self.home, known, at, limits):
                self.doing.endings.fence(self.engine.state, run)
        else:
            facts = facts_of(adapters.files, adapters.host, self.home, known, at, limits)
        for fact in facts:
            if isinstance(fact, RunLeft):
                if not (known.on_box or self._grace.is_over(run, self.context.clock.monotonic())):
                    continue
                self._grace.forget(run)
            if isinstance(fact, LaunchFailed) and (error := self.doing.launches.error(run)):
                fact = replace(fact, reason=f"{fact.reason} ({error})")  # noqa: PLW2901 (with the known cause)
            if isinstance(fact, RunGone):
                if hands_in_by_operations(self.engine.state, known):
                    self.see_events()  # the end of its turn may hold them
                if not self._operations.settled(self.where, known, fact.exit):
                    return
                self._grace.forget(run)
                hidden = copied_values(adapters.files, self.engine.state.brief.config, self.where.code)
                lines = last_lines(adapters.files, layout.run_home(self.home, run), hidden)
                fact = replace(fact, lines=lines)  # noqa: PLW2901 (with what it printed)
                self._listening.gone(run, self.where)
                self.doing.gone(run)
                self.see_folder()  # a report may be missing because its folder is
                how = Stopped.KILLED if fact.exit.code is None else Stopped.RUN
                self.see_reports(done={known.instance: how})
                self.see_turn_end(run, "\n".join(fact.lines), fact.exit)
                self.see_role_statuses(last=True)
            self.feed(fact)

    def keep(self) -> None:
        """Write what is shown again if it is no longer so: the state's folder was deleted, the branch moved.

        Raises:
            OSError: no room.

        """
        self.engine.keep_journal()
        self._view.see_branch()
        if self.begun and self.context.adapters.files.entry(layout.task_state(self.home)) is None:
            self.engine.dirty = True
            self.show()

    def see_trees(self) -> None:
        """Look whether the worktrees exist in which somebody works."""
        self.doing.tend_trees(self.engine.state, self.where)

    def see_boxes(self) -> None:
        """Tell the boxes which runs, or files of runs, the task has there, and handle their believed states."""
        for fact in self._boxes.look(self.where, rests=self.rests):
            self.feed(fact)
            if isinstance(fact, BoxBack):
                self.act_again()

    def see_brief(self) -> None:
        """Handle an edited task.md; one that cannot be parsed is reported and otherwise ignored.

        If the task has ended, this is left to its next start, which sees by it that there is more to do.
        """
        state = self.engine.state
        if state.state not in ACTIVE:
            return
        fact, fault = None, self._brief.fault
        try:
            fact = self._brief.look(layout.task_brief(self.where.task), state, self.context.clock.now())
        except (BadFile, Unreadable) as error:
            self.engine.say(f"the edited task.md is ignored: {error}")
        if self._brief.fault != fault:
            self.engine.dirty = True
            self.show()
        if fact is not None:
            self.feed(fact)

    def check_in(self, *, asked: bool = False) -> None:
        """The heartbeat: look at everything, record signs of work, handle what is due (H7).

        `asked`: the user requested it.
        """
        self.see_everything()
        self._listening.meter(GROWN)
        at = self.context.clock.now()
        self.feed(
            CheckedIn(
                at,
                self.context.nonce(),
                signs_of_work(
                    self.context.adapters.files, self.where.task, self.engine.state, self._listening.novel
                ),
                asked,
            )
        )
        self.engine.last_checkin = at
        self.engine.dirty = True
        self.show(rescan=True)

    def see_what_is_due(self) -> None:
        """Handle the deadlines that have passed: the state's own, graces of runs being ended, unsettled files."""
        at, limits = self.context.clock.now(), self.context.adapters.settings.limits
        self._looked_at = at
        self.see_boxes()
        if (again := self._intake.look_again(at)) is not None and at >= again:
            for name in self._intake.unsettled:
                self.see_reports(name)
        if (again := self._intake.publish_again(at)) is not None and at >= again:
            self.see_outboxes()
        if (edited := self._edit_due()) is not None and at >= edited:
            self.see_brief()
        moment = self._deadline()
        if moment is not None and at >= moment:
            self.see_events()  # they may have come in time
            moment = self._deadline()
        if moment is not None and at >= moment:
            self.feed(TimePassed(at, self.context.nonce()))
        for left in self._grace.due(self.context.clock.monotonic()):
            self.see_run(left)
        for late in self.engine.state.live_runs:
            if late.pid is None and at - late.opened_at >= limits.start_timeout:
                self.see_run(late.id)
        self.doing.see_what_is_due(self.engine.state, self.where)

    def leases(self) -> Iterator[Lease]:
        """Yield what the live runs hold or wait for."""
        launches, defined = self.doing.launches, self.context.adapters.settings.runtimes
        return leases_of(self.engine.state, launches.queues, launches.tried, defined)

    def wake_at(self) -> float | None:
        """Return when to look at this task next, by the wall clock, or None."""
        limits, now = self.context.adapters.settings.limits, self.context.clock.now()
        if self.troubled:
            return now + REST
        moments = self.doing.endings.moments(self.engine.state)
        elapsing = [*self._grace.moments, *self.doing.end_report.moments]
        moments += [moment + now - self.context.clock.monotonic() for moment in elapsing]
        moments += self._boxes.unfetched.moments
        # Looked at once when it should be alive; after that, or while it waits for a lease, scans suffice.
        moments += [
            late
            for run in self.engine.state.live_runs
            if run.pid is None and (late := run.opened_at + limits.start_timeout) > self._looked_at
        ]
        if (moment := self._deadline()) is not None:
            moments.append(moment)
        if (edited := self._edit_due()) is not None:
            moments.append(edited)
        if (again := self._intake.look_again(now)) is not None:
            moments.append(again)
        if (again := self._intake.publish_again(now)) is not None:
            moments.append(again)
        soonest = min(moments, default=None)
        # What was already due at the last look waits for something else: no reason to look again at once.
        return now + SOON if soonest is not None and soonest <= self._looked_at else soonest

    def _edit_due(self) -> float | None:
        """Return when to look at task.md again; an ended task looks at it only when it is started."""
        return self._brief.due_at if self.engine.state.state in ACTIVE else None

    def _deadline(self) -> float | None:
        """Return when time alone changes something. Called at every turn, so it is cached for each state."""
        state = self.engine.state
        if self._deadline_of is None or self._deadline_of[0] is not state:
            self._deadline_of = state, wake_at(state, self.context.adapters.settings.limits)
        return self._deadline_of[1]

    def show(self, *names: str, rescan: bool = False, now: bool = False) -> None:
        """Update the projections of the task, as `TaskView.show` does."""
        fault = self._brief.fault if self.engine.state.state in ACTIVE else ""
        beside = Unjournaled(self._boxes.behind, self.doing.launches.waiting, fault)
        if self._view.show(self.where, beside, names, rescan=rescan, now=now):
            self.doing.housekeeping.keep_house(self.engine.state, self.where)
        self.doing.end_report.go(self.engine.state, self.where.task, self._view.now, self._view.rescan)

    def _note_events(self, before: PMState, fact: Fact, decision: Decision, line: int) -> None:
        state = decision.state
        folder = layout.task_folder(self.home.__class__(state.project), state.name)
        self._events.note(folder, before, fact, decision, line)

    def close(self) -> None:
        """Close the task's files."""
        self.engine.close()

    @property
    def boxes_due(self) -> dict[str, str]:
        """The boxes that are not cleaned up yet, each with its last run there."""
        return self._boxes.due

    def release(self) -> bool:
        """Let nothing more come here from boxes; return False if a file is coming at this moment."""
        return self.context.adapters.boxes.release(self.id)

    def keep_again(self) -> None:
        """Let files come from boxes again: the task was released, and stays."""
        self._boxes.keep_again()

    def let_go(self) -> None:
        """Close the task's files, and write nothing of it any more: its user deletes or archives it."""
        self._view.end()
        self._boxes.let_go()  # or its files would go on coming
        self.close()

    def _act(self, engine: Engine, action: Action) -> None:
        self.doing.act(engine.state, self.where, action)
