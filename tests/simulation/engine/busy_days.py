"""What happened on each day of a world. Days without work prove little, however many there are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from orchestrator.testing.fake_clock import FakeClock

LENGTH: Final = 86_400.0
"""The length of a day in seconds, counted from the beginning of the world by the monotonic clock."""

LEAST: Final = 10
"""The least number of journal lines on a busy day. A task that waits for its user has three a day."""


@dataclass(slots=True)
class Day:
    """One day: runs that came alive, handoffs that were accepted, journal lines, deaths of the daemon."""

    runs: int = 0
    deliveries: int = 0
    decisions: int = 0
    deaths: int = 0

    @property
    def busy(self) -> bool:
        """True if agents worked and reported, and the PM made decisions."""
        return self.runs > 0 and self.deliveries > 0 and self.decisions >= LEAST


@dataclass(slots=True)
class Days:
    """The days of a world, by its clock."""

    clock: FakeClock
    _begun: float = field(init=False)
    _days: dict[int, Day] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with the first day."""
        self._begun = self.clock.monotonic()

    @property
    def today(self) -> Day:
        """The current day."""
        number = int((self.clock.monotonic() - self._begun) // LENGTH)
        return self._days.setdefault(number, Day())

    def counts(self) -> Counter[str]:
        """Return how many days were busy, and how often what occurred on them."""
        busy = [day for day in self._days.values() if day.busy]
        return Counter(
            {
                "busy days": len(busy),
                "busy days: runs": sum(day.runs for day in busy),
                "busy days: handoffs taken in": sum(day.deliveries for day in busy),
                "busy days: facts": sum(day.decisions for day in busy),
                "busy days: deaths of the daemon": sum(day.deaths for day in busy),
            }
        )
