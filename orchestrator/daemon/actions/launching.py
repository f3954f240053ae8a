"""The launches of one task: those that wait, those under way, and what becomes of one that fails."""

from __future__ import annotations

import errno
import logging
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.daemon.actions.admission import Obstacle, obstacle_of
from orchestrator.daemon.actions.asked import hosts_asked
from orchestrator.daemon.actions.launch import launch
from orchestrator.daemon.actions.outcomes import carry_out, look_at
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.hints import OutcomeHint
from orchestrator.daemon.core.task_paths import TaskPaths
from orchestrator.daemon.core.worker_pool import Executor
from orchestrator.daemon.ingest.run_lifecycle import LAUNCHED, claim
from orchestrator.model.actions import Launch
from orchestrator.model.errors import Lasting, OrchestratorError, Refused
from orchestrator.model.facts import Fact, LaunchFailed
from orchestrator.model.run import Run
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.box_link import is_lost
from orchestrator.ports.files import Unreadable
from orchestrator.ports.worktree import TreeLost
from orchestrator.workspaces.leases import Queue

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


@dataclass(slots=True)
class Launches:
    """Launches runs, and retries launches that have to wait for others. Its moments are of the monotonic clock.

    `_waits` are the launches that may not begin yet, since when and for what they wait; `_executors` the workers that
    launch each run; `_errors` why a launch failed the last time.
    """

    context: Context
    task: str
    home: Path
    _waits: dict[str, tuple[Launch, float, Obstacle]] = field(default_factory=dict)
    _executors: dict[str, Executor] = field(default_factory=dict)
    _errors: dict[str, str] = field(default_factory=dict)

    def begin(self, state: PMState, where: TaskPaths, action: Launch) -> None:
        """Have a run launched as soon as it may begin. Repeatable: a launch that waits goes on waiting."""
        since = self._waits[action.run][1] if action.run in self._waits else self.context.clock.monotonic()
        self._launch(state, where, action, since)

    def retry(self, state: PMState, where: TaskPaths) -> None:
        """Retry the launches that wait for others, and forget what is over."""
        for run in self._executors.keys() - state.runs.live.keys():
            del self._executors[run]
        for run in list(self._errors):  # workers add to it
            if run not in state.runs.live:
                self._errors.pop(run, None)
        for action, since, _ in list(self._waits.values()):
            self._launch(state, where, action, since)

    @property
    def waiting(self) -> dict[str, str]:
        """Return what each run waits for that may not be launched yet."""
        return {run: obstacle.text for run, (_, _, obstacle) in self._waits.items()}

    @property
    def queues(self) -> dict[str, Queue]:
        """Return in which queue each run stands that may not be launched yet."""
        return {run: obstacle.queue for run, (_, _, obstacle) in self._waits.items()}

    @property
    def tried(self) -> Collection[str]:
        """Return the live runs whose launch was tried since the daemon started."""
        return self._executors.keys()

    def error(self, run: str) -> str:
        """Return why the last try to launch a run failed, as far as known."""
        return self._errors.get(run, "")

    def gone(self, run: str) -> None:
        """Forget a run that is gone."""
        self._waits.pop(run, None)
        self._executors.pop(run, None)
        self._errors.pop(run, None)

    def _give_up_waiting(self, run: Run, action: Launch, obstacle: Obstacle) -> None:
        """End a launch that waited for too long, unless its launcher came; a full disk lets it wait on."""
        files, folder = self.context.adapters.files, layout.run_home(self.home, run.id)
        try:
            is_ours = run.on_box or claim(files, folder)
        except OSError as error:
            log.warning("run %s waits on: %s", run.id, error)
            return
        del self._waits[run.id]
        if is_ours:
            at = self.context.clock.now()
            failed = LaunchFailed(at, action.id, run.id, f"it waited in vain: {obstacle.text}")
            self.context.post(OutcomeHint(self.task, failed))

    def _launch(self, state: PMState, where: TaskPaths, action: Launch, since: float) -> None:
        run, adapters, clock = state.runs[action.run], self.context.adapters, self.context.clock
        if not run.live:
            self._waits.pop(run.id, None)
            return
        if (obstacle := self._obstacle(state, run)) is not None:
            self._waits[run.id] = (action, since, obstacle)
            if clock.monotonic() - since >= adapters.settings.limits.max_run_time:
                self._give_up_waiting(run, action, obstacle)
            return
        self._waits.pop(run.id, None)
        asked = clock.monotonic()
        # Two tries at one launch never run at once, even if they need different hosts.
        executor = self._executors.setdefault(run.id, self.context.executor_for(*hosts_asked(state, action)))
        carry_out(
            self.context,
            self.task,
            run.step,
            lambda at: self._tried(state, run, where, action, asked, at),
            executor,
        )
        look_at(self.context, self.task, run.step, run.id, executor)

    def _obstacle(self, state: PMState, run: Run) -> Obstacle | None:
        """Return what a run waits for; nothing if its launch was tried, perhaps before a restart: it has its place."""
        if run.id in self._executors:
            return None
        obstacle = obstacle_of(state, run, self.context.adapters.settings, self.context.leases)
        return None if obstacle is None or self._was_launched(run) else obstacle

    def _was_launched(self, run: Run) -> bool:
        return self.context.adapters.files.entry(layout.run_home(self.home, run.id) / LAUNCHED) is not None

    def _tried(
        self, state: PMState, run: Run, where: TaskPaths, action: Launch, asked: float, at: float
    ) -> Fact | None:
        """Launch a run. Return that it failed if no launcher of it can come to exist; None if one may."""
        adapters, lost = self.context.adapters, False
        try:
            return launch(adapters, state, run, where, self.context.clock, asked, self._tell)
        except (OrchestratorError, OSError) as error:
            self._errors[run.id] = str(error)
            if run.on_box and self._may_come(run, error):
                log.warning("run %s waits for its box: %s", run.id, error)
                return None
            again, reason, lost = not _lasts(error), str(error), isinstance(error, TreeLost)
        except Exception as error:
            log.exception("run %s could not be launched: this should not happen", run.id)
            again, reason = False, repr(error)
        try:
            # A claim here means nothing to a box, but would be taken for one that was seen there.
            if run.on_box or claim(adapters.files, layout.run_home(self.home, run.id)):
                return LaunchFailed(at, action.id, run.id, reason or "unknown", again=again, tree_lost=lost)
        except OSError as error:
            log.warning("run %s waits for the next look: %s", run.id, error)
        return None

    def _tell(self, fact: Fact) -> None:
        self.context.post(OutcomeHint(self.task, fact))

    def _may_come(self, run: Run, error: Exception) -> bool:
        """Return whether a run's launcher may come to its box despite an error, or waits for a connection.

        A local claim does not prevent it from starting there: the box is checked when it answers. A failure while there
        is a connection is no reason to wait: it is counted.
        """
        return is_lost(error) or self._was_launched(run)


def _lasts(error: Exception) -> bool:
    """Return whether an error meets each try at a launch until somebody changes something."""
    refused = isinstance(error, Refused | Lasting) and not isinstance(error, Unreadable)
    return refused or getattr(error, "errno", None) in LASTING_TROUBLE
