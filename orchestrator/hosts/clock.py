"""This machine's clocks."""

from __future__ import annotations

import time
from typing import Final

_GOES_ON: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""The name on Linux; elsewhere CLOCK_MONOTONIC goes on during sleep, and Python's monotonic clock is another one."""


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    def asleep(self) -> float:
        """Return how long the machine slept: the difference of a clock that goes on during sleep and one that stops."""
        return time.clock_gettime(_GOES_ON) - time.monotonic()

    def utc_offset(self, at: float) -> int:
        """Return by how many seconds local time is ahead of UTC at a moment; 0 if no calendar has that moment."""
        try:
            return time.localtime(at).tm_gmtoff
        except (OverflowError, ValueError, OSError):
            return 0

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
