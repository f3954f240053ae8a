"""Two clocks that move only on demand, and what is to happen at which moment."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

START = 1_764_254_100.0
"""Thursday, 27 November 2025, 14:35 UTC: the day of the examples in docs/reference."""


class FakeClock:
    """The port `Clock`. Moments are on the monotonic clock; a jump moves the wall clock alone.

    What is due at a moment happens when time comes to it, in the order in which it was planned; it may plan more,
    and may let time pass itself.
    """

    def __init__(self, wall: float = START) -> None:
        self._monotonic = 1000.0
        self._apart = wall - self._monotonic
        self._asleep = 0.0
        self.offset = 0
        self._planned: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def now(self) -> float:
        """Return the wall clock."""
        return self._monotonic + self._apart

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return self._monotonic

    def asleep(self) -> float:
        """Return how long the machine slept."""
        return self._asleep

    def utc_offset(self, at: float) -> int:
        """Return `offset`, which a test may set: seconds by which local time is ahead of UTC."""
        return self.offset

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.advance(seconds)

    def after(self, seconds: float, what: Callable[[], None]) -> None:
        """Plan something."""
        heapq.heappush(self._planned, (self._monotonic + seconds, next(self._numbers), what))

    def next_moment(self) -> float | None:
        """Return the monotonic moment at which something is planned next, or None."""
        return self._planned[0][0] if self._planned else None

    def advance(self, seconds: float) -> None:
        """Let time pass, and happen what was planned for it."""
        until = self._monotonic + seconds
        while self._planned and self._planned[0][0] <= until:
            moment, _, what = heapq.heappop(self._planned)
            self._monotonic = max(self._monotonic, moment)
            what()
        self._monotonic = max(self._monotonic, until)

    def jump(self, seconds: float) -> None:
        """Set the wall clock forward or back, as somebody or a time server would."""
        self._apart += seconds

    def suspend(self, seconds: float) -> None:
        """Let the machine sleep: the wall clock goes on, and nothing happens."""
        self._apart += seconds
        self._asleep += seconds
