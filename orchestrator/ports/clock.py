"""Time."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """The clocks of a machine. A clock that is set, and time asleep, show as differences between them."""

    def now(self) -> float:
        """Return the wall clock: seconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back, and stand still while the machine sleeps."""
        ...

    def asleep(self) -> float:
        """Return how many seconds the machine has slept since some moment; 0 where it does not tell."""
        ...

    def utc_offset(self, at: float) -> int:
        """Return by how many seconds local time is ahead of UTC at a moment (seconds since the epoch)."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...
