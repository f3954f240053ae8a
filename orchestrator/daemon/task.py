"""One task in the daemon: reads its files, feeds its engine, has its actions carried out."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from functools import partial
from operator import is_not
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.actions.dispatcher import Dispatcher
from orchestrator.daemon.boxes.box_cleanup import BoxCleanup
from orchestrator.daemon.boxes.transfer_status import behind
from orchestrator.daemon.boxes.unfetched import Unfetched
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.task_paths import TaskPaths, code_of, remote_task_of, workspace_of
from orchestrator.daemon.ingest.agent_feed import GROWN, AgentFeed
from orchestrator.daemon.ingest.brief_edits import BriefEdits
from orchestrator.daemon.ingest.file_activity import signs_of_work
from orchestrator.daemon.ingest.handoffs import NOBODY, HandoffIngest, Stopped
from orchestrator.daemon.ingest.outboxes import Outboxes
from orchestrator.daemon.ingest.run_lifecycle import Grace, facts_of, far_facts_of, overdue
from orchestrator.daemon.ingest.task_folder import make_again, make_run_folders, put_right, trouble
from orchestrator.daemon.ingest.turn_ends import turn_end
from orchestrator.daemon.journal.engine import Engine
from orchestrator.daemon.projections.outcome import BranchLook
from orchestrator.daemon.projections.output_tail import last_lines
from orchestrator.daemon.projections.projection_writer import ProjectionWriter
from orchestrator.daemon.projections.state_files import Unjournaled, last_checkin_shown, write_lost
from orchestrator.hosts.ssh.withheld import withheld
from orchestrator.model.actions import Action
from orchestrator.model.errors import BadFile, OrchestratorError
from orchestrator.model.facts import (
    BoxBack,
    BoxLost,
    CheckedIn,
    FolderBack,
    FolderLost,
    LaunchFailed,
    RunGone,
    RunLeft,
    TimePassed,
)
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Life
from orchestrator.pm.handlers.deadlines import wake_at
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.plan.asking import CONTINUE
from orchestrator.pm.state.transitions import IllegalMove
from orchestrator.ports.files import Unreadable
from orchestrator.ports.host import Standing
from orchestrator.scribe.scribe import Scribe

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from orchestrator.daemon.boxes.transfer_status import TransferStatus
    from orchestrator.daemon.ingest.handoffs import Done
    from orchestrator.model.facts import Fact
    from orchestrator.model.run import Exit, Run
    from orchestrator.pm.state.draft import Decision
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.boxes import Belief, RemoteTask

log = logging.getLogger(__name__)

REST: Final = 5.0
"""Seconds until a task is retried after a system failure, such as a full disk."""

STRANGER_KILLS: Final = 3
"""How often a run that no journal knows is killed until it is gone: its processes may start others meanwhile."""

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
    _outstanding: Unfetched = field(init=False)
    _boxes_left: BoxCleanup = field(init=False)
    _intake: HandoffIngest | None = field(default=None, init=False)
    _outboxes: Outboxes | None = field(default=None, init=False)
    _brief: BriefEdits = field(init=False)
    template: Path | None = field(default=None, init=False)
    _rests_until: float | None = field(default=None, init=False)
    _showing: ProjectionWriter | None = field(default=None, init=False)
    _looked_at: float = field(default=0.0, init=False)
    _remote_tasks: tuple[RemoteTask, ...] = field(default=(), init=False)
    _behind: tuple[TransferStatus, ...] = field(default=(), init=False)
    _waiting: dict[str, str] = field(default_factory=dict, init=False)
    _lost: dict[str, Belief] = field(default_factory=dict, init=False)
    _lies: tuple[tuple[object, ...], TaskPaths] | None = field(default=None, init=False)
    _grace: Grace = field(default_factory=Grace, init=False)
    _deadline_of: tuple[PMState, float | None] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Open the journal."""
        settings = self.context.adapters.settings
        self.doing = Dispatcher(self.context, self.id, self.home)
        self._brief = BriefEdits(self.context.adapters.files)
        self._outstanding = Unfetched(self.context.adapters.files, self.home)
        self._boxes_left = BoxCleanup(self.context, self.home)
        self.engine = Engine(
            self.context.adapters.files,
            self.home,
            settings.limits,
            self._act,
            settings.logs.size,
            self.context.clock.utc_offset,
        )
        self._listening = AgentFeed(
            self.context,
            self.home,
            self.engine,
            self.see_reports,
            self._saving,
            self.see_turn_end,
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
        waits = busy or state.open_questions or self.troubled or self._outstanding
        unread = self._intake is not None and self._intake.unsettled
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
        return self._showing is not None and self._showing.behind

    # Rest --------------------------------------------------------------------------------------------

    @property
    def troubled(self) -> bool:
        """Return whether the task rests because of a system failure."""
        return self._rests_until is not None

    @property
    def rested(self) -> bool:
        """Return True once when a rest is over: then the task must be recovered as after a restart."""
        if self._rests_until is None or self.context.clock.monotonic() < self._rests_until:
            return False
        self._rests_until = None
        return True

    def rest(self) -> None:
        """Do nothing for a while, then look at everything again: what was seen but not journaled is forgotten."""
        self._rests_until = self.context.clock.monotonic() + REST
        self._intake = self._outboxes = None
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
        self.end_strangers()
        self.see_everything()
        self.act_again()

    def act_again(self) -> None:
        """Repeat every action whose outcome is not known, and every failed write of projections.

        An action that was done is recognised by looking (law 4).
        """
        for action in list(self.engine.state.outbox.values()):
            self._act(self.engine, action)
        if self._showing is not None and self.behind:
            self._showing.soon()

    def end_strangers(self) -> None:
        """End the runs that the journal does not know after damage: the next runs need their trees."""
        adapters = self.context.adapters
        runs = layout.task_runs(self.home)
        strangers = [each for each in adapters.files.entries(runs) if each.name not in self.engine.state.runs]
        for entry in strangers:
            folder = runs / entry.name
            for _ in range(STRANGER_KILLS):
                if adapters.host.observe(folder).standing is Standing.GONE:
                    break
                log.warning("task %s: run %s is in no journal and is ended", self.id, entry.name)
                adapters.host.end(folder, kill=True)

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
        self.see_brief()

    def see_reports(self, name: str = "", done: Done = NOBODY) -> None:
        """Handle new files in `handoffs/`: one name, or all; `done` are instances that have finished writing."""
        at, state = self.context.clock.now(), self.engine.state
        intake = self.intake
        if not name:
            self.see_outboxes(done)
        try:
            facts = intake.look(name, state, at) if name else intake.scan(state, at, done)
        except (Unreadable, PermissionError):
            # Nobody can have written into something that is no folder. One that cannot be read is a question.
            self.see_folder(closely=True)
            facts = intake.scan(state, at, done)
        self._feed_each(facts)

    def see_outboxes(self, done: Done = NOBODY) -> None:
        """Publish what agents handed in through folders of their own; `done` are instances that finished writing."""
        if self._outboxes is None:
            adapters, nonce = self.context.adapters, self.context.nonce
            self._outboxes = Outboxes(adapters.files, self.where.task, adapters.settings.limits, nonce)
        self._feed_each(self._outboxes.publish(self.engine.state, self.context.clock.now(), done))

    def _feed_each(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            try:
                self.feed(fact)
            except IllegalMove:  # one report must not hold up the others
                log.exception("task %s: a rule erred on %s; nothing was changed", self.id, fact)

    def see_turn_end(self, run: str, words: str, how: Exit | None = None) -> None:
        """Read what an agent of a workflow left when its turn ended, or its process, which ended like that."""
        adapters, at = self.context.adapters, self.context.clock.now()
        limits = adapters.settings.limits
        try:
            fact = turn_end(
                adapters.files, self.where.task, self.engine.state, run, at, limits, self._keep, words, how
            )
            if fact is not None:
                self.feed(fact)
        except IllegalMove:
            log.exception("task %s: a rule erred on the turn of %s; nothing was changed", self.id, run)

    def see_folder(self, *, closely: bool = False) -> None:
        """Repair the task's folder in its project as far as possible, and report what cannot be repaired.

        `closely` also tests whether it can be read.
        """
        state, files, folder = self.engine.state, self.context.adapters.files, self.where.task
        if state.state not in ACTIVE:
            return
        at, nonce, reports = self.context.clock.now(), self.context.nonce(), layout.task_reports(self.home)
        asked = any(each.kind is QuestionKind.FOLDER for each in state.open_questions)
        if why := trouble(files, folder, state.links, closely=closely or asked):
            self.feed(FolderLost(at, nonce, str(folder), why, str(reports)))
            return
        mended = put_right(files, folder, reports, state.seen, state.links)
        if mended or asked:
            self.feed(FolderBack(at, nonce, mended))

    def make_folder_again(self, question: str, text: str) -> None:
        """Make the task's folder anew, if the answer to a question says so. Raises Refused."""
        asked = self.engine.state.questions.get(question)
        if asked is None or not asked.open or asked.kind is not QuestionKind.FOLDER:
            return
        if text.strip().lower() == CONTINUE:
            state, files, folder = self.engine.state, self.context.adapters.files, self.where.task
            make_again(files, folder, layout.task_reports(self.home), state.seen, state.links)
            for run in state.live_runs:
                if run.agent in state.agents:
                    make_run_folders(files, folder, state, run)

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
            if isinstance(fact, LaunchFailed) and (error := self.doing.launch_error(run)):
                fact = replace(fact, reason=f"{fact.reason} ({error})")  # noqa: PLW2901 (with the known cause)
            if isinstance(fact, RunGone):
                self._grace.forget(run)
                fact = replace(fact, lines=last_lines(adapters.files, layout.run_home(self.home, run)))  # noqa: PLW2901 (with what it printed)
                self._listening.gone(run, self.where)
                self.doing.gone(run)
                how = Stopped.KILLED if fact.exit.code is None else Stopped.RUN
                self.see_reports(done={known.instance: how})
                self.see_turn_end(run, "\n".join(fact.lines), fact.exit)
            self.feed(fact)

    def keep(self) -> None:
        """Write the known state of the task to disk again if its own folder was deleted. Raises OSError: no room."""
        self.engine.keep_journal()
        if self.begun and self.context.adapters.files.entry(layout.task_state(self.home)) is None:
            self.engine.dirty = True
            self.show()

    def see_trees(self) -> None:
        """Look whether the worktrees exist in which somebody works."""
        self.doing.tend_trees(self.engine.state, self.where)

    def see_boxes(self) -> None:
        """Tell the boxes which runs, or files of runs, the task has there, and handle their believed states."""
        boxes, where, state = self.context.adapters.boxes, self.where, self.engine.state
        far = [run for run in state.live_runs if run.on_box]
        over = self._outstanding.look(state, self.context.clock.now())
        self._see_behind(run.host for run in (*far, *over))
        remote_tasks = tuple(
            dict.fromkeys(
                remote_task
                for run in (*far, *over)
                if (remote_task := remote_task_of(state, where, run, over))
            )
        )
        if remote_tasks != self._remote_tasks:
            self._remote_tasks = remote_tasks
            boxes.keep(self.id, remote_tasks)
        if self.rests and not over:
            self._boxes_left.leave_all(state)
        for box in dict.fromkeys(run.host for run in far):
            belief, at = boxes.belief(box, self.id), self.context.clock.now()
            lives = {run.life for run in far if run.host == box}
            if belief is None:
                continue
            if belief.reachable and Life.UNREACHABLE in lives:
                self.feed(BoxBack(at, self.context.nonce(), box))
                self.act_again()
            elif not belief.reachable and (lives != {Life.UNREACHABLE} or belief != self._lost.get(box)):
                self._lost[box] = belief
                self.feed(BoxLost(at, self.context.nonce(), box, belief.why, belief.refused))

    def _see_behind(self, names: Iterable[str]) -> None:
        """Report which runs' files are missing, and refresh the projections when that changed."""
        boxes, names = self.context.adapters.boxes, set(names)

        def why(box: str) -> str:
            return "".join(each.why for each in behind(boxes, self.id, [box], ()))

        for text in self._outstanding.said(self.context.clock.now(), why):
            self.engine.say(text)
        if (now := behind(boxes, self.id, names, self._outstanding.missing())) != self._behind:
            self._behind = now
            self.engine.dirty = True

    def see_brief(self) -> None:
        """Handle an edited task.md; one that cannot be parsed is reported and otherwise ignored.

        If the task has ended, this is left to its next start, which sees by it that there is more to do.
        """
        state = self.engine.state
        if state.state not in ACTIVE:
            return
        try:
            fact = self._brief.look(layout.task_brief(self.where.task), state, self.context.clock.now())
        except (BadFile, Unreadable) as error:
            self.engine.say(f"the edited task.md is ignored: {error}")
            return
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
        if self._intake is not None and (again := self._intake.look_again(at)) is not None and at >= again:
            for name in self._intake.unsettled:
                self.see_reports(name)
        if (
            self._outboxes is not None
            and (again := self._outboxes.look_again(at)) is not None
            and at >= again
        ):
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

    def wake_at(self) -> float | None:
        """Return when to look at this task next, by the wall clock, or None."""
        limits, now = self.context.adapters.settings.limits, self.context.clock.now()
        if self.troubled:
            return now + REST
        moments = self.doing.endings.moments(self.engine.state)
        moments += [moment + now - self.context.clock.monotonic() for moment in self._grace.moments]
        moments += self._outstanding.moments
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
        if self._intake is not None and (again := self._intake.look_again(now)) is not None:
            moments.append(again)
        if self._outboxes is not None and (again := self._outboxes.look_again(now)) is not None:
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
        """Update the projections of the task.

        Args:
            names: what is new or changed in the task's folder, for the scribe.
            rescan: the scribe must look at everything.
            now: write before this returns; otherwise soon, and only if something changed.

        """
        if self.doing.waiting != self._waiting:
            self._waiting, self.engine.dirty = self.doing.waiting, True
        if not self.begun or not (self.engine.dirty or names or rescan or now):
            return
        changed, self.engine.dirty = self.engine.dirty, False
        showing = self._showing_of_it()
        showing.tell(
            self.engine.state,
            self.engine.last_checkin,
            names,
            changed=changed,
            rescan=rescan,
            unjournaled=Unjournaled(self._behind, self._waiting),
        )
        if now:
            showing.now()
        else:
            showing.soon()
        if changed:
            self.doing.housekeeping.keep_house(self.engine.state, self.where)

    def _showing_of_it(self) -> ProjectionWriter:
        if self._showing is None:
            context, folder = self.context, self.where.task
            files = context.adapters.files
            limits = context.adapters.settings.limits
            scribe = Scribe(files, folder, handoff_bytes=limits.max_handoff_bytes)
            self._showing = ProjectionWriter(
                files,
                context.clock,
                context.scribe_executor,
                scribe,
                self.home,
                folder,
                limits,
                self._look_at_branch,
            )
        return self._showing

    def _look_at_branch(self, state: PMState) -> BranchLook | None:
        """Look at the task's branch, for its projections. Called by the thread that writes them."""
        if not state.base:
            return None
        at, workspaces = self.context.clock.now(), self.context.adapters.workspaces
        try:
            return BranchLook(
                at, workspaces.survey(code_of(state.project, state.brief), state.branch, state.base)
            )
        except (OrchestratorError, OSError) as error:
            return BranchLook(at, fault=str(error))

    def _saving(self, instance: str) -> str:
        return self.intake.saving(instance)

    @property
    def intake(self) -> HandoffIngest:
        """The ingest of this task's handoffs."""
        if self._intake is None:
            adapters = self.context.adapters
            limits = adapters.settings.limits
            folder, nonce = self.where.task, self.context.nonce
            known = partial(withheld, adapters.files, layout.task_withheld(self.home))
            self._intake = HandoffIngest(
                adapters.files, folder, self._keep, limits, nonce, self._trees, known
            )
        return self._intake

    def _trees(self, run: Run) -> tuple[Path, ...]:
        """Return the folders where the work of a run here may be, besides the task's folder."""
        return () if run.on_box else (workspace_of(self.engine.state, run, self.where), self.where.code)

    def _keep(self, digest: str, report: bytes) -> None:
        """Keep a copy of a report, by its hash. Not waited for: the journal has what the decision needs."""
        files, accepted = self.context.adapters.files, layout.task_reports(self.home)

        def work() -> None:
            files.make_folder(accepted)
            files.write(accepted / digest, report)

        self.context.executor.do(f"{self.id}/reports", work)

    def close(self) -> None:
        """Close the task's files."""
        self.engine.close()

    @property
    def boxes_due(self) -> dict[str, str]:
        """The boxes that are not cleaned up yet, each with its last run there."""
        return self._boxes_left.due(self.engine.state)

    def release(self) -> bool:
        """Let nothing more come here from boxes; return False if a file is coming at this moment."""
        return self.context.adapters.boxes.release(self.id)

    def keep_again(self) -> None:
        """Let files come from boxes again: the task was released, and stays."""
        self.context.adapters.boxes.keep(self.id, self._remote_tasks)

    def let_go(self) -> None:
        """Close the task's files, and write nothing of it any more: its user deletes or archives it."""
        if self._showing is not None:
            self._showing.end()
        if self._remote_tasks:  # or its files would go on coming
            self._remote_tasks = ()
            self.context.adapters.boxes.keep(self.id, ())
        self.close()

    def _act(self, engine: Engine, action: Action) -> None:
        self.doing.act(engine.state, self.where, action)
