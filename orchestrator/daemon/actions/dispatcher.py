"""The dispatcher of one task's actions: each is given to workers, and its outcome comes to the loop as a hint."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from orchestrator.daemon.actions import finish
from orchestrator.daemon.actions.answer import answer
from orchestrator.daemon.actions.asked import hosts_asked
from orchestrator.daemon.actions.end_report import EndReport
from orchestrator.daemon.actions.housekeeping import Housekeeping
from orchestrator.daemon.actions.inspect import inspect
from orchestrator.daemon.actions.launching import Launches
from orchestrator.daemon.actions.look import look
from orchestrator.daemon.actions.notify import notify
from orchestrator.daemon.actions.nudge import nudge
from orchestrator.daemon.actions.outcomes import carry_out
from orchestrator.daemon.actions.resolve import resolve
from orchestrator.daemon.actions.run_endings import RunEndings
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.hints import OutcomeHint
from orchestrator.daemon.core.task_paths import TaskPaths, worked_in
from orchestrator.model.actions import (
    Action,
    Answer,
    Commit,
    End,
    Inspect,
    Launch,
    Look,
    Merge,
    Notify,
    Nudge,
    Rebase,
    ResolveEvidence,
    TendBranch,
    Undo,
)
from orchestrator.model.errors import OrchestratorError, Unavailable
from orchestrator.model.facts import Fact, Rebased, TreeVanished, Undone
from orchestrator.model.run import Ending, Life
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.worktree import Tree

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Dispatcher:
    """Carries out decided actions. A state is a snapshot: workers use the one that they were given.

    Its moments are of the monotonic clock.

    `_hindered` are the commits and merges that git could not do, and since when; `_at_hand` those under way, or whose
    outcome is on its way: repeated on a branch that has advanced since, they would make another commit.
    """

    context: Context
    task: str
    home: Path
    launches: Launches = field(init=False)
    endings: RunEndings = field(init=False)
    housekeeping: Housekeeping = field(init=False)
    end_report: EndReport = field(init=False)
    _hindered: dict[str, float] = field(default_factory=dict)
    _at_hand: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Give the parts of this what they need."""
        self.launches = Launches(self.context, self.task, self.home)
        self.endings = RunEndings(self.context, self.task, self.home)
        self.housekeeping = Housekeeping(self.context, self.task, self.home)
        self.end_report = EndReport(self.context, self.task)

    def act(self, state: PMState, where: TaskPaths, action: Action) -> None:
        """Have one action carried out. Repeatable: what was done already is recognised by looking."""
        adapters = self.context.adapters
        match action:
            case Launch():
                self.launches.begin(state, where, action)
            case End():
                self.endings.end(state, action.run, kill=False)
            case Look():
                self._see(state, where, action)
            case Nudge():
                self._nudge(state, action)
            case Answer():
                self._answer(state, action)
            case Commit():
                self._finish(state, action, lambda at: finish.commit(adapters, state, action, where, at))
            case Inspect():
                self._finish(state, action, lambda at: inspect(adapters, state, action, where, at))
            case ResolveEvidence():
                self._finish(state, action, lambda at: resolve(adapters, state, action, where, at))
            case TendBranch() | Merge() | Rebase() | Undo():
                self._finish(state, action, lambda at: finish.moved(adapters, state, action, where, at))
            case Notify():
                if not self.end_report.takes(action):
                    self._notify(action)

    def heard(self, fact: Fact) -> None:
        """Note that an action's outcome was handled: if it is still open, it may be repeated."""
        self._at_hand.discard(
            fact.action if isinstance(fact, Rebased | Undone) else getattr(fact, "nonce", "")
        )

    @property
    def busy(self) -> bool:
        """Return whether an action is under way, or waits."""
        return bool(self.endings.busy or self.launches.waiting or self._at_hand)

    @property
    def housekeeping_waits(self) -> bool:
        """Return whether panes or trees that nobody needs are still to be cleaned up: a try has failed."""
        return self.housekeeping.is_put_off

    def forget(self) -> None:
        """Wait for no outcome any more: outcomes that come meanwhile are ignored."""
        self._at_hand.clear()
        self.end_report.forget()

    def gone(self, run: str) -> None:
        """Forget a run that is gone."""
        self.endings.forget(run)
        self.launches.gone(run)

    def see_what_is_due(self, state: PMState, where: TaskPaths) -> None:
        """Kill runs that were asked to end and did not in time; retry launches that wait for others."""
        self.endings.see_what_is_due(state)
        for put_off in list(self._hindered):
            if put_off not in state.outbox:
                self._hindered.pop(put_off, None)
        self.launches.retry(state, where)

    def fence(self, state: PMState, run: str) -> None:
        """Claim a run on a box that nobody claimed in time, so that it never starts."""
        self.endings.fence(state, run)

    def launch_error(self, run: str) -> str:
        """Return why the launch of a run failed; empty if that is not known."""
        return self.launches.error(run)

    def tend_trees(self, state: PMState, where: TaskPaths) -> None:
        """Look whether the trees exist in which somebody works: one that vanished is reported at once."""
        worked = {
            run.id: tree
            for run in state.live_runs
            if run.life is Life.ALIVE and run.ending is Ending.NOT and run.reported_at is None
            if (tree := worked_in(state, run, where)) is not None
        }
        if worked:
            self.context.executor.do(f"{self.task}/trees", partial(self._tend, worked))

    def _tend(self, worked: dict[str, Tree]) -> None:
        workspaces, clock = self.context.adapters.workspaces, self.context.clock
        for run, tree in worked.items():
            try:
                reason = workspaces.tend(tree)
            except (OrchestratorError, OSError) as error:
                log.info("the tree of run %s will be looked at later: %s", run, error)
                continue
            if reason:
                vanished = TreeVanished(clock.now(), f"{run}:tree", run, reason)
                self.context.post(OutcomeHint(self.task, vanished))

    # -------------------------------------------------------------------------------------------------

    def _finish(self, state: PMState, action: finish.OfGit, work: Callable[[float], Fact]) -> None:
        """Read or change what git has.

        What git cannot do now is retried at each rescan, for `limits.inactivity_timeout`.
        """
        if action.id in self._at_hand:
            return
        about = "branch" if isinstance(action, finish.OfTheBranch) else action.step
        self._at_hand.add(action.id)

        def tried(at: float) -> Fact | None:
            outcome: Fact | None = None
            try:
                outcome = attempted(at)
            finally:
                if outcome is None:
                    self._at_hand.discard(action.id)
            return outcome

        def attempted(at: float) -> Fact | None:
            try:
                outcome = work(at)
            except (Unavailable, OSError) as error:
                now = self.context.clock.monotonic()
                since = self._hindered.setdefault(action.id, now)
                if now - since < self.context.adapters.settings.limits.inactivity_timeout:
                    log.warning("task %s: the %s of %s is put off: %s", self.task, action.kind, about, error)
                    return None
                outcome = finish.given_up(action, at, str(error) or "unknown")
            self._hindered.pop(action.id, None)
            return outcome

        carry_out(
            self.context, self.task, about, tried, self.context.executor_for(*hosts_asked(state, action))
        )

    def _see(self, state: PMState, where: TaskPaths, action: Look) -> None:
        """Look at a quiet run. Not in its step's queue: a look must not wait for work that hangs there."""
        run, adapters = state.runs[action.run], self.context.adapters
        executor = self.context.executor_for(*hosts_asked(state, action))
        carry_out(
            self.context,
            self.task,
            f"{run.step}/look",
            lambda at: look(adapters, state, run, where, action.id, at),
            executor,
        )

    def _nudge(self, state: PMState, action: Nudge) -> None:
        """Type a line; if it cannot even be claimed, it is retried at the next look at the outbox."""
        adapters, run = self.context.adapters, state.runs[action.run]

        def work(at: float) -> Fact | None:
            try:
                return nudge(adapters.files, adapters.host_of(run), self.home, action, at)
            except (Unavailable, OSError) as error:
                log.warning("the nudge of run %s is put off: %s", action.run, error)
                return None

        carry_out(
            self.context,
            self.task,
            f"{action.run}/nudge",
            work,
            self.context.executor_for(*hosts_asked(state, action)),
        )

    def _answer(self, state: PMState, action: Answer) -> None:
        """Write an answer to where its program looks; a failed write is retried at each rescan."""
        run = state.runs[action.run]

        def work(at: float) -> Fact | None:
            try:
                return answer(self.context.adapters, self.home, run, state.agents[run.agent], action, at)
            except OSError as error:
                log.warning("the answer to run %s is put off: %s", action.run, error)
                return None

        carry_out(self.context, self.task, f"{action.run}/answer", work)

    def _notify(self, action: Notify) -> None:
        """Put a notification into the spool. A failed write is retried at each rescan."""

        def work(at: float) -> Fact | None:
            try:
                return notify(self.context.desk, self.task, action, at)
            except OSError as error:
                log.warning("task %s: %s waits for room on the disk: %s", self.task, action.id, error)
                return None

        carry_out(self.context, self.task, "notifications", work)
