"""The scribe's worker: one task's progress.md is written on a thread of its own, never by the deciding one.

What came while it wrote is one further writing, however much it was.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from orchestrator.model.errors import OrchestratorError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.daemon.hands import Hands
    from orchestrator.ports.clock import Clock
    from orchestrator.scribe.progress import PMView
    from orchestrator.scribe.scribe import Scribe

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Scribing:
    """Hands news to the scribe of one task. `tell` may be called from any thread."""

    task: str
    scribe: Scribe
    hands: Hands
    clock: Clock
    _lock: Lock = field(default_factory=Lock)
    _view: PMView | None = None
    _names: set[str] = field(default_factory=set)
    _rescan: bool = True
    _queued: bool = False

    def tell(self, view: PMView, names: Iterable[str] = (), *, rescan: bool = False) -> None:
        """Have progress.md brought up to date: `names` are new in the task's folder, `view` is the PM's news."""
        with self._lock:
            self._view = view
            self._names.update(names)
            self._rescan |= rescan
            if self._queued:
                return
            self._queued = True
        self.hands.do(f"{self.task}/scribe", self._write)

    def _write(self) -> None:
        with self._lock:
            view, names, rescan = self._view, self._names, self._rescan
            self._names, self._rescan, self._queued = set(), False, False
        if view is None:
            return
        try:
            at = self.clock.now()
            if rescan:
                self.scribe.rescan(view, at)
            else:
                self.scribe.notice(sorted(names), view, at)
        except (OrchestratorError, OSError) as error:
            log.warning("progress.md of %s was not written just now: %s", self.task, error)
            with self._lock:
                self._names |= names
                self._rescan |= rescan
