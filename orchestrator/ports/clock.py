"""Time."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """The two clocks of a machine. A suspend or a clock that is set shows as a difference between them."""

    def now(self) -> float:
        """Return the wall clock: seconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...
