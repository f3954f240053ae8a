"""The dispatcher of one task's actions: each is given to workers, and its outcome comes to the loop as a hint."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.daemon.actions import finish
from orchestrator.daemon.actions.admission import obstacle_of
from orchestrator.daemon.actions.answer import answer
from orchestrator.daemon.actions.asked import hosts_asked
from orchestrator.daemon.actions.end import end, fence
from orchestrator.daemon.actions.housekeeping import boxes_of, close_spent, settled, spent_trees
from orchestrator.daemon.actions.inspect import inspect
from orchestrator.daemon.actions.launch import launch
from orchestrator.daemon.actions.look import look
from orchestrator.daemon.actions.notify import notify
from orchestrator.daemon.actions.nudge import nudge
from orchestrator.daemon.actions.resolve import resolve
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.hints import OutcomeHint, RunHint
from orchestrator.daemon.core.task_paths import TaskPaths, worked_in
from orchestrator.daemon.core.worker_pool import Executor
from orchestrator.daemon.ingest.run_lifecycle import LAUNCHED, claim
from orchestrator.daemon.journal.segments import compress_closed
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
)
from orchestrator.model.errors import Lasting, OrchestratorError, Refused, Unavailable
from orchestrator.model.facts import Fact, LaunchFailed, TreeVanished
from orchestrator.model.run import Ending, Life, Run
from orchestrator.pm.state.steps import Marks
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.box_link import is_lost
from orchestrator.ports.boxes import reached
from orchestrator.ports.files import Unreadable
from orchestrator.ports.host import Host
from orchestrator.ports.workspaces import Tree, TreeLost

log = logging.getLogger(__name__)

LASTING_TROUBLE: Final = frozenset(
    {
        errno.EACCES,
        errno.EEXIST,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOTDIR,
        errno.EPERM,
    }
)
"""System errors that meet each try at a launch until somebody changes what lies on the disk."""

SECOND_LOOK: Final = 0.1
"""Seconds after which a run that was asked to end is looked at again: one look serves many runs, and finds processes
that began in the milliseconds after the first and were not asked. Their grace begins then.
"""


@dataclass(slots=True)
class Dispatcher:
    """Carries out decided actions. A state is a snapshot: workers use the one that they were given.

    Its moments are of the monotonic clock.

    `_ending` are the runs that were asked to end, and when; `_asked_twice` those that were looked at again; `_waits`
    the launches that may not begin yet, since when and for what they wait; `_launchers` the workers that launch each
    run; `_launch_errors` why a launch failed the last time; `_hindered` the commits and merges that git could not do,
    and since when; `_at_hand` those under way, or whose outcome is on its way: repeated on a branch that has advanced
    since, they would make another commit; `_left` the settled steps whose trees were cleaned up, `_put_off` those where
    that failed.
    """

    context: Context
    task: str
    home: Path
    _ending: dict[str, float] = field(default_factory=dict)
    _asked_twice: set[str] = field(default_factory=set)
    _waits: dict[str, tuple[Launch, float, str]] = field(default_factory=dict)
    _launchers: dict[str, Executor] = field(default_factory=dict)
    _hindered: dict[str, float] = field(default_factory=dict)
    _at_hand: set[str] = field(default_factory=set)
    _launch_errors: dict[str, str] = field(default_factory=dict)
    _left: Marks = 0
    _put_off: list[Marks] = field(default_factory=list)
    _swept: int = 0

    def act(self, state: PMState, where: TaskPaths, action: Action) -> None:
        """Have one action carried out. Repeatable: what was done already is recognised by looking."""
        adapters = self.context.adapters
        match action:
            case Launch():
                _, since, _ = self._waits.get(action.run, (action, self.context.clock.monotonic(), ""))
                self._launch(state, where, action, since)
            case End():
                self._end(state, action.run, kill=False)
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
            case TendBranch() | Merge() | Rebase():
                workspaces = adapters.workspaces
                self._finish(state, action, lambda at: finish.moved(workspaces, state, action, where, at))
            case Notify():
                self._notify(action)

    def heard(self, fact: Fact) -> None:
        """Note that an action's outcome was handled: if it is still open, it may be repeated."""
        self._at_hand.discard(getattr(fact, "nonce", ""))

    @property
    def busy(self) -> bool:
        """Return whether an action is under way, or waits."""
        return bool(self._ending or self._waits or self._at_hand)

    @property
    def housekeeping_waits(self) -> bool:
        """Return whether panes or trees that nobody needs are still to be cleaned up: a try has failed."""
        return bool(self._put_off)

    @property
    def waiting(self) -> dict[str, str]:
        """Return what each run waits for that may not be launched yet."""
        return {run: obstacle for run, (_, _, obstacle) in self._waits.items()}

    def forget(self) -> None:
        """Wait for no outcome any more: outcomes that come meanwhile are ignored."""
        self._at_hand.clear()

    def gone(self, run: str) -> None:
        """Forget a run that is gone."""
        self._ending.pop(run, None)
        self._asked_twice.discard(run)
        self._waits.pop(run, None)
        self._launchers.pop(run, None)
        self._launch_errors.pop(run, None)

    def launch_error(self, run: str) -> str:
        """Return why the last try to launch a run failed, as far as known."""
        return self._launch_errors.get(run, "")

    def fence(self, state: PMState, run: str) -> None:
        """Fence a run whose launcher has not come: it must start nothing if it comes later.

        A launcher that came meanwhile, because it was sent again, is left alone.
        """
        if run not in self._ending:
            self._see_off(state, run, fence)

    def see_what_is_due(self, state: PMState, where: TaskPaths) -> None:
        """Kill runs that were asked to end and did not in time; retry launches that wait for others."""
        self._see_who_ends(state)
        self._forget(state)
        waits, self._waits = self._waits, {}
        for action, since, _ in waits.values():
            self._launch(state, where, action, since)

    def _see_who_ends(self, state: PMState) -> None:
        at, grace = self.context.clock.monotonic(), self.context.adapters.settings.limits.termination_grace
        self._asked_twice &= state.runs.live.keys()
        missed = list[Run]()
        for run, since in list(self._ending.items()):
            if run not in state.runs.live:  # it was never launched
                del self._ending[run]
            elif self._is_asked_again(state.runs[run]):
                if at - since >= SECOND_LOOK:
                    self._asked_twice.add(run)
                    self._ending[run] = at
                    missed.append(state.runs[run])
            elif at - since >= grace:
                if state.runs[run].ending is Ending.NOT:
                    # Fenced on its box, or not: whether it still must be depends on what is seen there now.
                    del self._ending[run]
                    continue
                self._ending[run] = at
                self._end(state, run, kill=True)
        if missed:
            self._ask_again(missed)

    def _forget(self, state: PMState) -> None:
        """Forget the state kept for actions and runs that are over."""
        for put_off in list(self._hindered):
            if put_off not in state.outbox:
                self._hindered.pop(put_off, None)
        for run in self._launchers.keys() - state.runs.live.keys():
            del self._launchers[run]
        for run in list(self._launch_errors):  # workers add to it
            if run not in state.runs.live:
                self._launch_errors.pop(run, None)

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

    def moments(self, state: PMState) -> list[float]:
        """Return when something is due, by the wall clock."""
        clock, grace = self.context.clock, self.context.adapters.settings.limits.termination_grace
        apart = clock.now() - clock.monotonic()
        return [
            since + (SECOND_LOOK if self._is_asked_again(state.runs[run]) else grace) + apart
            for run, since in self._ending.items()
        ]

    def _is_asked_again(self, run: Run) -> bool:
        """Return whether processes of a run may have missed the request to end, and must be asked again.

        A box checks each of its runs itself. If the grace is no longer than this check takes, all are killed then.
        """
        return (
            run.id not in self._asked_twice
            and run.ending is not Ending.NOT
            and not run.on_box
            and self.context.adapters.settings.limits.termination_grace > SECOND_LOOK
        )

    def keep_house(self, state: PMState, where: TaskPaths) -> None:
        """Close panes and remove trees that are not needed any more; compress closed segments of the journal.

        Nothing waits for it, and it may be repeated.
        """
        adapters = self.context.adapters
        while self._put_off:
            self._left &= ~self._put_off.pop()
        done = settled(state)
        left, self._left = done & ~self._left, done
        trees = {tree.name: tree for tree in spent_trees(state, where, done, left)}
        gone = len(state.runs) - len(state.live_runs)
        sweep, self._swept = gone != self._swept, gone
        journal = layout.task_journal(self.home)

        def work() -> None:
            try:
                # Leftovers of a tree that a killed daemon was removing are swept as well, even if its folder is gone.
                there = adapters.workspaces.remains(where.code, where.trees, state.branch) if trees else ()
                for name in trees.keys() & there:
                    adapters.workspaces.release(trees[name], 0)
                if sweep:
                    compress_closed(adapters.files, journal)
                    close_spent(state, adapters.host)
            except (OrchestratorError, OSError) as error:
                log.info("housekeeping of %s was put off: %s", state.id, error)
                self._put_off.append(left)

        def work_on(box: str) -> None:
            try:
                close_spent(state, adapters.boxes.host(box))
            except (OrchestratorError, OSError) as error:
                log.info("panes of %s on %s will be closed later: %s", state.id, box, error)
                self._put_off.append(left)

        if trees or sweep:
            self.context.executor.do(f"{self.task}/house", work)
        for box in boxes_of(state) if sweep else ():
            if reached(adapters.boxes, box):
                self.context.executor_for(box).do(f"{self.task}/house", partial(work_on, box))

    # -------------------------------------------------------------------------------------------------

    def _launch(self, state: PMState, where: TaskPaths, action: Launch, since: float) -> None:
        run, adapters, clock = state.runs[action.run], self.context.adapters, self.context.clock
        if not run.live:
            return
        folder = layout.run_home(self.home, run.id)
        held = partial(self.context.leases, run.opened_at, run.id)
        if obstacle := obstacle_of(state, run, adapters.settings, held):
            if clock.monotonic() - since < adapters.settings.limits.max_run_time:
                self._waits[run.id] = (action, since, obstacle)
            elif run.on_box or claim(adapters.files, folder):
                failed = LaunchFailed(clock.now(), action.id, run.id, f"it waited in vain: {obstacle}")
                self.context.post(OutcomeHint(self.task, failed))
            return
        asked = clock.monotonic()

        def work(at: float) -> Fact | None:
            try:
                return launch(adapters, state, run, where, clock, asked)
            except (OrchestratorError, OSError) as error:
                self._launch_errors[run.id] = str(error)
                if run.on_box and self._may_come(run, error):
                    log.warning("run %s waits for its box: %s", run.id, error)
                    return None
                lasts = isinstance(error, Refused | Lasting) and not isinstance(error, Unreadable)
                lasts = lasts or getattr(error, "errno", None) in LASTING_TROUBLE
                again, reason = not lasts, str(error)
                lost = isinstance(error, TreeLost)
            except Exception as error:
                log.exception("run %s could not be launched: this should not happen", run.id)
                again, reason, lost = False, repr(error), False
            try:
                # A claim here means nothing to a box, but would be taken for one that was seen there.
                if run.on_box or claim(adapters.files, folder):
                    return LaunchFailed(
                        at, action.id, run.id, reason or "unknown", again=again, tree_lost=lost
                    )
            except OSError as error:
                log.warning("run %s waits for the next look: %s", run.id, error)
            return None

        # Two tries at one launch never run at once, even if they need different hosts.
        executor = self._launchers.setdefault(run.id, self.context.executor_for(*hosts_asked(state, action)))
        self._do(run.step, work, executor)
        self._look_at(run.step, run.id, executor)

    def _may_come(self, run: Run, error: Exception) -> bool:
        """Return whether a run's launcher may come to its box despite an error, or waits for a connection.

        A local claim does not prevent it from starting there: the box is checked when it answers. A failure while there
        is a connection is no reason to wait: it is counted.
        """
        launched = layout.run_home(self.home, run.id) / LAUNCHED
        return is_lost(error) or self.context.adapters.files.entry(launched) is not None

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

        self._do(about, tried, self.context.executor_for(*hosts_asked(state, action)))

    def _see(self, state: PMState, where: TaskPaths, action: Look) -> None:
        """Look at a quiet run. Not in its step's queue: a look must not wait for work that hangs there."""
        run, adapters = state.runs[action.run], self.context.adapters
        executor = self.context.executor_for(*hosts_asked(state, action))
        self._do(f"{run.step}/look", lambda at: look(adapters, state, run, where, action.id, at), executor)

    def _nudge(self, state: PMState, action: Nudge) -> None:
        """Type a line; if it cannot even be claimed, it is retried at the next look at the outbox."""
        adapters, run = self.context.adapters, state.runs[action.run]

        def work(at: float) -> Fact | None:
            try:
                return nudge(adapters.files, adapters.host_of(run), self.home, action, at)
            except (Unavailable, OSError) as error:
                log.warning("the nudge of run %s is put off: %s", action.run, error)
                return None

        self._do(f"{action.run}/nudge", work, self.context.executor_for(*hosts_asked(state, action)))

    def _answer(self, state: PMState, action: Answer) -> None:
        """Write an answer to where its program looks; a failed write is retried at each rescan."""
        run = state.runs[action.run]

        def work(at: float) -> Fact | None:
            try:
                return answer(self.context.adapters, self.home, run, state.agents[run.agent], action, at)
            except OSError as error:
                log.warning("the answer to run %s is put off: %s", action.run, error)
                return None

        self._do(f"{action.run}/answer", work)

    def _notify(self, action: Notify) -> None:
        """Put a notification into the spool. A failed write is retried at each rescan."""

        def work(at: float) -> Fact | None:
            try:
                return notify(self.context.desk, self.task, action, at)
            except OSError as error:
                log.warning("task %s: %s waits for room on the disk: %s", self.task, action.id, error)
                return None

        self._do("news", work)

    def _end(self, state: PMState, run: str, *, kill: bool) -> None:
        self._see_off(state, run, partial(end, kill=kill))
        known = state.runs[run]
        if known.on_box and (kill or known.ending is Ending.LEFT):
            # A box reports the end of a program, but not the end of processes that it left behind.
            executor = self.context.executor_for(known.host)
            self._do(f"{known.step}/end", lambda _: self.context.adapters.boxes.hurry(known.host), executor)

    def _ask_again(self, runs: list[Run]) -> None:
        """Ask those processes to end that the first request missed: one look for all runs, not one for each."""
        adapters, home = self.context.adapters, self.home

        def work() -> None:
            for run in runs:
                try:
                    end(adapters.host_of(run), home, run.id, kill=False)
                except (OrchestratorError, OSError) as error:
                    log.info("run %s is killed after its grace, if need be: %s", run.id, error)

        self.context.executor.do(f"{self.task}/end-again", work)

    def _see_off(self, state: PMState, run: str, deed: Callable[[Host, Path, str], None]) -> None:
        self._ending.setdefault(run, self.context.clock.monotonic())
        adapters, home, known = self.context.adapters, self.home, state.runs[run]

        def work(_: float) -> None:
            try:
                deed(adapters.host_of(known), home, run)
            except Unavailable as error:
                log.info("run %s will be ended later: %s", run, error)
            except (OrchestratorError, OSError):
                log.exception("run %s could not be ended just now", run)

        # Not in the step's queue: a hanging launch must not prevent the end of its run.
        key = f"{state.runs[run].step}/end"
        executor = self.context.executor_for(known.host)
        self._do(key, work, executor)
        self._look_at(key, run, executor)

    def _do(self, key: str, work: Callable[[float], Fact | None], executor: Executor | None = None) -> None:
        """Have work done, by the workers for this machine unless others are given; its outcome goes to the loop."""
        clock, post, task = self.context.clock, self.context.post, self.task
        (executor or self.context.executor).do(
            f"{task}/{key}", lambda: post(OutcomeHint(task, work(clock.now())))
        )

    def _look_at(self, key: str, run: str, executor: Executor) -> None:
        post, hint = self.context.post, RunHint(self.task, run)
        executor.do(f"{self.task}/{key}", lambda: post(hint))
