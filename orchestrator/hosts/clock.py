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

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
