"""Runs that work for a task and that no journal knows: the state folder was deleted while they worked.

Nobody listens to them, and the next start of the task would begin others beside them. So they are ended, as runs are
that a damaged journal has forgotten. A run whose own folder lies under another state folder is another daemon's: it is
left alone, and the start is refused.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.model.errors import Refused
from orchestrator.ports.host import Standing

if TYPE_CHECKING:
    from collections.abc import Collection, Container
    from pathlib import Path

    from orchestrator.daemon.core.task_paths import Adapters
    from orchestrator.ports.marked_runs import MarkedRun


log = logging.getLogger(__name__)

STRANGER_KILLS: Final = 3
"""How often a run that no journal knows is killed until it is gone: its processes may start others meanwhile."""


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


def end_strangers(adapters: Adapters, home: Path, known: Container[str]) -> None:
    """End the runs of a task that its journal does not know after damage: the next runs need their trees."""
    for entry in adapters.files.entries(layout.task_runs(home)):
        if entry.name in known:
            continue
        folder = layout.run_home(home, entry.name)
        for _ in range(STRANGER_KILLS):
            if adapters.host.observe(folder).standing is Standing.GONE:
                break
            log.warning("task %s: run %s is in no journal and is ended", home.name, entry.name)
            adapters.host.end(folder, kill=True)
