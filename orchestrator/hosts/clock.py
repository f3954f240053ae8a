"""This machine's clocks."""

from __future__ import annotations

import time
from typing import Final

_GOES_ON: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Linux names it; elsewhere CLOCK_MONOTONIC goes on in sleep, and Python's monotonic clock is another."""


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    def asleep(self) -> float:
        """Return how long the machine slept: by what a clock that goes on in sleep is ahead of one that stops."""
        return time.clock_gettime(_GOES_ON) - time.monotonic()

    def utc_offset(self, at: float) -> int:
        """Return by how many seconds local time is ahead of UTC at a moment; 0 if that is no moment of a calendar."""
        try:
            return time.localtime(at).tm_gmtoff
        except (OverflowError, ValueError, OSError):
            return 0

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
