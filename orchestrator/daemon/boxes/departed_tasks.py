"""Boxes of tasks that were deleted or archived before the boxes were cleaned up: one was away, say.

A note for each such task, outside of the task's own folder, says which boxes remain. It is written before the task is
marked as one that leaves, and removed when all of them are done or the task is here again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.daemon.boxes.box_cleanup import noted_runs
from orchestrator.daemon.boxes.cleanup_queue import CleanupQueue
from orchestrator.model.host_names import HERE, is_box

if TYPE_CHECKING:
    from orchestrator.daemon.core.context import Context
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

_ENDING: Final = ".json"


def write_departed(files: Files, state: Path, task: str, due: Mapping[str, str]) -> None:
    """Note the boxes of a task that are still to be cleaned up, each with the task's last run there. Raises OSError."""
    if due:
        files.make_folder(layout.boxes_departed(state))
        files.write(_note(state, task), json.dumps(dict(due)).encode())


def boxes_shown(state: Mapping[str, Any]) -> dict[str, str]:
    """Return the boxes on which a task has had agents, by the last state of it that a daemon showed."""
    hosts = [str(agent.get("host") or HERE) for agent in state.get("agents", ())]
    return {host: "" for host in hosts if is_box(host)}


@dataclass(slots=True)
class DepartedTasks:
    """All deleted and archived tasks with boxes that are still to be cleaned up. One thread calls it."""

    context: Context
    _queues: dict[str, CleanupQueue] = field(default_factory=dict)

    @property
    def next_try(self) -> float | None:
        """When the next box is due, by the monotonic clock; None if no box waits for its time."""
        tries = [at for queue in self._queues.values() if (at := queue.next_try) is not None]
        return min(tries, default=None)

    def look(self) -> None:
        """Have the boxes cleaned up that are due; what the disk cannot do now is done by the next look."""
        try:
            self._look()
        except OSError as error:
            log.warning("boxes of deleted tasks are cleaned up later: %s", error)

    def _look(self) -> None:
        files, folder = self.context.adapters.files, layout.boxes_departed(self.context.state_folder)
        names = [name for name in files.names(folder) if name.endswith(_ENDING)]
        tasks = [name.removesuffix(_ENDING) for name in names]
        self._queues = {task: queue for task, queue in self._queues.items() if task in tasks}
        for task in tasks:
            if self._is_here(task):
                self._queues.pop(task, None)
                files.remove(_note(self.context.state_folder, task))
                continue
            if task not in self._queues:
                self._queues[task] = CleanupQueue(self.context, task, partial(self._done, task))
                self._queues[task].replace(noted_runs(files, _note(self.context.state_folder, task)))
            self._queues[task].try_due()

    def _is_here(self, task: str) -> bool:
        """Return whether a task was restored, or never left: then it cleans up its boxes itself."""
        files, home = self.context.adapters.files, layout.task_home(self.context.state_folder, task)
        return files.entry(home) is not None and files.entry(layout.task_leaving(home)) is None

    def _done(self, task: str, box: str, run: str) -> None:
        del run
        files, note = self.context.adapters.files, _note(self.context.state_folder, task)
        left = noted_runs(files, note)
        left.pop(box, None)
        if left:
            files.write(note, json.dumps(left).encode())
        elif files.entry(note) is not None:
            files.remove(note)


def _note(state: Path, task: str) -> Path:
    return layout.boxes_departed(state) / f"{task}{_ENDING}"
