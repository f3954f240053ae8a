"""Where the time of a launch goes, told in the log if it takes unusually long."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from orchestrator.ports.clock import Clock

log = logging.getLogger(__name__)

UNUSUAL: Final = 3.0
"""Seconds. On a quiet machine a launch takes a few tenths of one; at load 15 one in sixteen took 7.7 (measured)."""


@dataclass(slots=True)
class LaunchTimes:
    """The parts of one launch, in their order, each with its seconds; `since` is when it was asked for."""

    clock: Clock
    since: float
    _parts: dict[str, float] = field(default_factory=dict)

    def ended(self, part: str) -> None:
        """Note that a part has ended: what passed since the last one was its time."""
        now = self.clock.monotonic()
        self._parts[part] = now - self.since
        self.since = now

    def log_if_slow(self, run: str) -> None:
        """Say in the log where the time went, if it was unusually long."""
        if (total := sum(self._parts.values())) >= UNUSUAL:
            parts = ", ".join(f"{part} {seconds:.1f} s" for part, seconds in self._parts.items())
            log.warning("the launch of run %s took %.1f s: %s", run, total, parts)
