"""An allowance that fills up again with time: what a box may have of us at once, and what for ever."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Allowance:
    """So much at once, and so much a second; of whatever. Moments are of a clock that never goes back.

    `wait` is how many seconds it makes somebody wait at most, however much was spent.
    """

    at_once: float
    per_second: float
    wait: float
    _left: float | None = None
    _at: float = 0.0

    def spend(self, much: float, now: float) -> None:
        """Note that so much was had."""
        self._left = max(self._filled(now) - much, -self.wait * self.per_second)
        self._at = now

    def pause(self, now: float) -> float:
        """Return how many seconds are to pass until more is had: 0 while something is left."""
        return max(0.0, -self._filled(now) / self.per_second)

    def _filled(self, now: float) -> float:
        if self._left is None:
            return self.at_once
        return min(self.at_once, self._left + (now - self._at) * self.per_second)
