"""One task in the daemon: its inputs feed its engine, which has its actions carried out."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from operator import is_not
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.actions.admission import leases_of
from orchestrator.daemon.actions.dispatcher import Dispatcher
from orchestrator.daemon.boxes.task_boxes import TaskBoxes
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.task_paths import TaskPaths, code_of
from orchestrator.daemon.ingest.agent_feed import GROWN
from orchestrator.daemon.ingest.task_inputs import TaskInputs
from orchestrator.daemon.journal.engine import Engine
from orchestrator.daemon.process.orphans import Strangers
from orchestrator.daemon.projections.state_document import Unjournaled
from orchestrator.daemon.projections.state_files import last_checkin_shown, write_lost
from orchestrator.daemon.projections.task_view import TaskView
from orchestrator.daemon.projections.workflow_events import WorkflowEvents
from orchestrator.model.actions import Action
from orchestrator.model.facts import BoxBack, TimePassed
from orchestrator.pm.handlers.deadlines import wake_at
from orchestrator.pm.plan.advance import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.draft import Decision
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.workspaces.leases import Lease

log = logging.getLogger(__name__)

REST: Final = 5.0
"""Seconds until a task is retried after a system failure, such as a full disk."""

QUEUED_LOOK: Final = 1.0
"""Seconds between two looks at whether runs that wait in a queue have begun: a look at files, not at the queue."""

SOON: Final = 0.5
"""Seconds until something that may still be incomplete is looked at again."""


@dataclass(slots=True)
class Task:
    """A task whose journal is open. All methods are called by the deciding thread."""

    context: Context
    home: Path
    engine: Engine = field(init=False)
    doing: Dispatcher = field(init=False)
    inputs: TaskInputs = field(init=False)
    _boxes: TaskBoxes = field(init=False)
    _strangers: Strangers = field(init=False)
    _view: TaskView = field(init=False)
    template: Path | None = field(default=None, init=False)
    _rests_until: float | None = field(default=None, init=False)
    _looked_at: float = field(default=0.0, init=False)
    _lies: tuple[tuple[object, ...], TaskPaths] | None = field(default=None, init=False)
    _events: WorkflowEvents = field(init=False)
    _deadline_of: tuple[PMState, float | None] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Open the journal."""
        settings = self.context.adapters.settings
        self.doing = Dispatcher(self.context, self.id, self.home)
        self._events = WorkflowEvents(self.context.adapters.files, self.home)
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
        self.inputs = TaskInputs(
            self.context, self.home, self.engine, self.doing, lambda: self.where, lambda: self.behind
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
        unread = self.inputs.unsettled
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
        self.inputs.forget()
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
        """Look at everything that may have changed: boxes, events, runs, reports, task.md."""
        self.see_boxes()
        if self.inputs.see_everything():
            self.show()

    def see_brief(self) -> None:
        """Handle an edited task.md."""
        if self.inputs.see_brief():
            self.show()

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

    def see_boxes(self) -> None:
        """Tell the boxes which runs, or files of runs, the task has there, and handle their believed states."""
        for fact in self._boxes.look(self.where, rests=self.rests):
            self.feed(fact)
            if isinstance(fact, BoxBack):
                self.act_again()

    def check_in(self, *, asked: bool = False) -> None:
        """The heartbeat: look at everything, record signs of work, handle what is due (H7).

        `asked`: the user requested it.
        """
        self.see_everything()
        self.inputs.meter(GROWN)
        at = self.context.clock.now()
        self.feed(self.inputs.checked_in(at, asked=asked))
        self.engine.last_checkin = at
        self.engine.dirty = True
        self.show(rescan=True)

    def see_what_is_due(self) -> None:
        """Handle the deadlines that have passed: the state's own, graces of runs being ended, unsettled files."""
        at, limits = self.context.clock.now(), self.context.adapters.settings.limits
        self._looked_at = at
        self.see_boxes()
        self.inputs.see_what_is_due(at)
        if (edited := self.inputs.edit_due) is not None and at >= edited:
            self.see_brief()
        moment = self._deadline()
        if moment is not None and at >= moment:
            self.inputs.see_events()  # they may have come in time
            moment = self._deadline()
        if moment is not None and at >= moment:
            self.feed(TimePassed(at, self.context.nonce()))
        self.inputs.see_leftovers()
        for late in self.engine.state.live_runs:
            if late.pid is None and (late.is_queued or at - late.opened_at >= limits.start_timeout):
                self.inputs.see_run(late.id)
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
        moments += [moment + now - self.context.clock.monotonic() for moment in self.doing.end_report.moments]
        moments += self.inputs.moments(now)
        moments += self._boxes.unfetched.moments
        # Looked at once when it should be alive; after that, or while it waits for a lease, scans suffice.
        moments += [
            late
            for run in self.engine.state.live_runs
            if run.pid is None and (late := run.opened_at + limits.start_timeout) > self._looked_at
        ]
        if any(run.is_queued for run in self.engine.state.live_runs):
            moments.append(self._looked_at + QUEUED_LOOK)
        if (moment := self._deadline()) is not None:
            moments.append(moment)
        soonest = min(moments, default=None)
        # What was already due at the last look waits for something else: no reason to look again at once.
        return now + SOON if soonest is not None and soonest <= self._looked_at else soonest

    def _deadline(self) -> float | None:
        """Return when time alone changes something. Called at every turn, so it is cached for each state."""
        state = self.engine.state
        if self._deadline_of is None or self._deadline_of[0] is not state:
            self._deadline_of = state, wake_at(state, self.context.adapters.settings.limits)
        return self._deadline_of[1]

    def show(self, *names: str, rescan: bool = False, now: bool = False) -> None:
        """Update the projections of the task, as `TaskView.show` does; of one that has not begun there are none."""
        if not self.begun:
            return
        beside = Unjournaled(self._boxes.behind, self.doing.launches.waiting, self.inputs.brief_fault)
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
