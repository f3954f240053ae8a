"""Cleaning up boxes after a task has ended: its windows there are closed, and its mirror here is deleted.

The journal says which boxes remain, and a file which are done. So neither a restart of the daemon nor a box that is
away matters: the clean-up is retried at growing intervals.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.boxes.cleanup_queue import CleanupQueue
from orchestrator.ports.files import Files, Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.core.context import Context
    from orchestrator.pm.state.task_state import PMState

_BYTES: Final = 1_048_576


@dataclass(slots=True)
class BoxCleanup:
    """The boxes of one task. `home` is the task's own folder. One thread calls it."""

    context: Context
    home: Path
    _of: PMState | None = None
    _queue: CleanupQueue = field(init=False)

    def __post_init__(self) -> None:
        """Make the queue."""
        self._queue = CleanupQueue(self.context, self.home.name, self._done)

    def leave_all(self, state: PMState) -> None:
        """Clean up every box on which the task has worked since its last clean-up. The task must be at rest."""
        self.due(state)
        self._queue.try_due()

    def due(self, state: PMState) -> dict[str, str]:
        """Return the boxes that are not cleaned up yet, each with the task's last run there."""
        if self._of is not state:
            left = self._left()
            last = {run.host: run.id for run in state.runs.values() if run.on_box}
            self._of = state
            self._queue.replace({box: run for box, run in last.items() if left.get(box) != run})
        return self._queue.due

    def _done(self, box: str, run: str) -> None:
        done = json.dumps(self._left() | {box: run}).encode()
        self.context.adapters.files.write(layout.task_boxes_left(self.home), done, durable=False)

    def _left(self) -> dict[str, str]:
        """Return the last run on each box that is cleaned up, as recorded by an earlier look or daemon."""
        return noted_runs(self.context.adapters.files, layout.task_boxes_left(self.home))


def noted_runs(files: Files, path: Path) -> dict[str, str]:
    """Return the boxes in a note, each with a run; none if the note is missing or cannot be read."""
    if files.entry(path) is None:
        return {}
    try:
        noted = json.loads(files.read(path, _BYTES))
    except (ValueError, RecursionError, Unreadable):
        return {}
    pairs = noted.items() if isinstance(noted, dict) else ()
    return {box: run for box, run in pairs if isinstance(box, str) and isinstance(run, str)}
