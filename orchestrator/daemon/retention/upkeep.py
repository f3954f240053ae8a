"""What is tidied now and then: the leftovers of ended runs, and the temporary files of interrupted writes."""

from __future__ import annotations

import logging
import math
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.retention.log_retention import LogRetention
from orchestrator.daemon.retention.passivation import PassiveTask
from orchestrator.daemon.task import Task
from orchestrator.hosts.temp_cleanup import sweep
from orchestrator.model.errors import OrchestratorError
from orchestrator.model.task import TaskState
from orchestrator.workspaces.git import GitWorkspaces

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from orchestrator.pm.state.task_state import PMState

log = logging.getLogger("orchestrator.daemon")

SWEEP_EVERY: Final = 3600.0
SWEEP_AGE: Final = 600.0
"""Seconds between two sweeps, and the age of a temporary file that nobody writes any more."""


class Upkeep:
    """Has what earlier work left behind compressed, gathered and swept, by worker threads."""

    def __init__(self, context: Context, workspaces: GitWorkspaces) -> None:
        self._context = context
        self._workspaces = workspaces
        self._logs: dict[str, LogRetention] = {}
        self._packed_at = -math.inf
        self._swept_at = -SWEEP_EVERY

    def pack(self, tasks: Iterable[Task]) -> None:
        """Have the leftovers of ended runs and tries compressed, now and then."""
        now = self._context.clock.monotonic()
        if now - self._packed_at < self._context.adapters.settings.logs.pack_after:
            return
        self._packed_at = now
        for task in tasks:
            if task.begun:
                retention = self._logs.setdefault(task.id, self._of(task))
                self._context.executor.do(
                    "retention", partial(self._tidy, retention, task.engine.state, task.where.code)
                )

    def passivated(self, task: Task) -> None:
        """Have the leftovers of a passivated task compressed."""
        retention = self._logs.pop(task.id, None) or self._of(task)
        if task.begun:
            self._context.executor.do(
                "retention", partial(self._tidy, retention, task.engine.state, task.where.code)
            )

    def forget(self, task: Task) -> None:
        """Forget a task that its user deletes or archives."""
        self._logs.pop(task.id, None)

    def sweep(self, tasks: Collection[Task], passive: Collection[PassiveTask]) -> None:
        """Have the temporary files of interrupted writes removed, now and then."""
        now = self._context.clock.monotonic()
        if now - self._swept_at < SWEEP_EVERY:
            return
        self._swept_at = now
        homes = [task.home for task in tasks] + [task.home for task in passive]
        shared = [task.where.task for task in tasks if task.begun]
        shared += [task.folder for task in passive if task.folder is not None]
        before = self._context.clock.now() - SWEEP_AGE
        self._context.executor.do("sweep", partial(_swept, self._context.state_folder, homes, shared, before))

    def _of(self, task: Task) -> LogRetention:
        return LogRetention(self._context.adapters.files, task.home)

    def _tidy(self, retention: LogRetention, state: PMState, code: Path) -> None:
        settings = self._context.adapters.settings
        try:
            retention.tidy(state, settings.logs, self._context.clock.now())
            complete = state.state is TaskState.COMPLETE and not state.live_runs
            if complete and state.base and not retention.gathered:
                self._workspaces.gather(code, state.branch, settings.git.kept_refs)
            retention.gathered = complete
        except (OrchestratorError, OSError) as error:
            log.info("what %s left behind will be compressed later: %s", state.id, error)


def _swept(state: Path, homes: list[Path], shared: list[Path], before: float) -> None:
    """Remove temporary files of interrupted writes from the PM's own folder and from those of the tasks."""
    folders = [state]
    for home in homes:
        runs = layout.task_runs(home)
        folders += [home, layout.task_journal(home), layout.task_requests(home), layout.task_reports(home)]
        with suppress(OSError):
            folders += runs.iterdir()
    for task in shared:
        folders += [task, layout.handoffs(task)]
    if swept := sweep(folders, before):
        log.info("removed %d temporary files of interrupted writes", swept)
