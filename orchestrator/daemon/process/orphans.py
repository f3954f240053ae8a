"""Runs that work for a task and that no journal knows: the state folder was deleted while they worked.

Nobody listens to them, and the next start of the task would begin others beside them. So they are ended, as runs are
that a damaged journal has forgotten. A run whose own folder lies under another state folder is another daemon's: it is
left alone, and the start is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from orchestrator.daemon.core.task_paths import Adapters
    from orchestrator.ports.marked_runs import MarkedRun


def end(adapters: Adapters, task: Path, known: Collection[str], state: Path) -> list[str]:
    """End the runs for a task's folder that are not `known`; return their ids. `state` is our own state folder.

    Raises:
        Refused: another daemon knows one of them, or one cannot be ended.

    """
    unknown = [each for each in adapters.marked_runs.of_task(task) if each.run not in known]
    for each in unknown:
        if not each.folder.is_relative_to(state) and adapters.files.entry(each.folder) is not None:
            raise Refused(
                f"{task.name} is at work under another state folder, in {each.folder}: end it there first "
                f"({layout.HOME_VARIABLE}=… task stop {task.name})"
            )
    for each in unknown:
        if not adapters.marked_runs.end(each):
            raise Refused(
                f"{_named(each)} works for {task.name}, is in no journal, and cannot be ended: end it"
            )
    return [each.run for each in unknown]


def _named(run: MarkedRun) -> str:
    return f"run {run.run} (its launcher is {run.launcher.partition('@')[0]})"
