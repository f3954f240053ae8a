"""Cleaning up boxes after a task has ended: its windows there are closed, and its mirror here is deleted.

The journal says which boxes remain, and a file which are done. So neither a restart of the daemon nor a box that is
away matters: the clean-up is retried at growing intervals.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.model.errors import OrchestratorError
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.core.context import Context
    from orchestrator.pm.state.task_state import PMState

log = logging.getLogger(__name__)

FIRST: Final = 5.0
LONGEST: Final = 3600.0
"""Seconds until a box that was away is retried: they double from the first to the longest."""

_BYTES: Final = 1_048_576


@dataclass(slots=True)
class BoxCleanup:
    """The boxes of one task. `home` is the task's own folder. One thread calls `leave_all`, workers do the rest."""

    context: Context
    home: Path
    _of: PMState | None = None
    _due: dict[str, str] = field(default_factory=dict)
    _under_way: set[str] = field(default_factory=set)
    _tries: dict[str, tuple[int, float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def leave_all(self, state: PMState) -> None:
        """Clean up every box on which the task has worked since its last clean-up. The task must be at rest."""
        if self._of is not state:
            left = self._left()
            last = {run.host: run.id for run in state.runs.values() if run.on_box}
            with self._lock:
                self._of, self._due = state, {box: run for box, run in last.items() if left.get(box) != run}
        now = self.context.clock.monotonic()
        with self._lock:
            ready = [
                (box, run)
                for box, run in self._due.items()
                if box not in self._under_way and now >= self._tries.get(box, (0, now))[1]
            ]
            self._under_way.update(box for box, _ in ready)
        for box, run in ready:
            self.context.executor_for(box).do(f"{self.home.name}/leave", partial(self._leave, box, run))

    def _leave(self, box: str, run: str) -> None:
        try:
            self.context.adapters.boxes.leave(box, self.home.name)
            with self._lock:
                done = json.dumps(self._left() | {box: run}).encode()
                self.context.adapters.files.write(layout.task_boxes_left(self.home), done, durable=False)
                self._due.pop(box, None)
                self._tries.pop(box, None)
        except (OrchestratorError, OSError) as error:
            tries = self._tries.get(box, (0, 0.0))[0]
            pause = min(FIRST * 2**tries, LONGEST)
            log.info("windows of %s on %s will be closed later: %s", self.home.name, box, error)
            with self._lock:
                self._tries[box] = min(tries + 1, 20), self.context.clock.monotonic() + pause
        finally:
            with self._lock:
                self._under_way.discard(box)

    def _left(self) -> dict[str, str]:
        """Return the last run on each box that is cleaned up, as recorded by an earlier look or daemon."""
        path, files = layout.task_boxes_left(self.home), self.context.adapters.files
        if files.entry(path) is None:
            return {}
        try:
            noted = json.loads(files.read(path, _BYTES))
        except (ValueError, RecursionError, Unreadable):
            return {}
        pairs = noted.items() if isinstance(noted, dict) else ()
        return {box: run for box, run in pairs if isinstance(box, str) and isinstance(run, str)}
