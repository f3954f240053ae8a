"""The boxes of one task that are to be cleaned up: each is tried at growing intervals until it is done."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Final

from orchestrator.model.errors import OrchestratorError

if TYPE_CHECKING:
    from orchestrator.daemon.core.context import Context

log = logging.getLogger(__name__)

FIRST: Final = 5.0
LONGEST: Final = 3600.0
"""Seconds until a box that was away is retried: they double from the first to the longest."""


@dataclass(slots=True)
class CleanupQueue:
    """The boxes of one task, by its id. One thread calls it, workers do the rest.

    `done` records that a box is cleaned up, given with the task's last run there; workers call it, one at a time.
    """

    context: Context
    task: str
    done: Callable[[str, str], None]
    _due: dict[str, str] = field(default_factory=dict)
    _under_way: set[str] = field(default_factory=set)
    _tries: dict[str, tuple[int, float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @property
    def due(self) -> dict[str, str]:
        """The boxes that are not cleaned up yet, each with the task's last run there."""
        with self._lock:
            return dict(self._due)

    @property
    def next_try(self) -> float | None:
        """When the next box is due, by the monotonic clock; None if no box waits for its time."""
        with self._lock:
            tries = [self._tries.get(box, (0, 0.0))[1] for box in self._due if box not in self._under_way]
        return min(tries, default=None)

    def replace(self, due: Mapping[str, str]) -> None:
        """Set which boxes are to be cleaned up."""
        with self._lock:
            self._due = dict(due)

    def try_due(self) -> None:
        """Have those cleaned up that are due now."""
        now = self.context.clock.monotonic()
        with self._lock:
            ready = [
                (box, run)
                for box, run in self._due.items()
                if box not in self._under_way and now >= self._tries.get(box, (0, now))[1]
            ]
            self._under_way.update(box for box, _ in ready)
        for box, run in ready:
            self.context.executor_for(box).do(f"{self.task}/leave", partial(self._leave, box, run))

    def _leave(self, box: str, run: str) -> None:
        try:
            self.context.adapters.boxes.leave(box, self.task)
            with self._lock:
                self.done(box, run)
                self._due.pop(box, None)
                self._tries.pop(box, None)
        except (OrchestratorError, OSError) as error:
            tries = self._tries.get(box, (0, 0.0))[0]
            pause = min(FIRST * 2**tries, LONGEST)
            log.info("windows of %s on %s will be closed later: %s", self.task, box, error)
            with self._lock:
                self._tries[box] = min(tries + 1, 20), self.context.clock.monotonic() + pause
        finally:
            with self._lock:
                self._under_way.discard(box)
