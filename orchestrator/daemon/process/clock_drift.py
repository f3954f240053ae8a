"""Whether the clocks moved between two looks: the machine slept, or somebody set its clock (law 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from orchestrator.ports.clock import Clock

MOVED: Final = 5.0
"""Seconds by which clocks may drift apart before it counts."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The change in seconds: `slept` while the machine was asleep, `put` by setting the wall clock (back: negative)."""

    slept: float
    put: float


class Drift:
    """Compares the clocks with their difference at the last look."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._asleep, self._apart = self._read()

    def look(self) -> Moved | None:
        """Return how the clocks have moved since the last look that found a change; None if they have not."""
        asleep, apart = self._read()
        slept = asleep - self._asleep
        moved = Moved(slept, apart - self._apart - slept)
        if max(abs(moved.slept), abs(moved.put)) < MOVED:
            return None
        self._asleep, self._apart = asleep, apart
        return moved

    def _read(self) -> tuple[float, float]:
        return self._clock.asleep(), self._clock.now() - self._clock.monotonic()
