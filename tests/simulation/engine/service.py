"""The model's service, which all agents of a world use. Now and then a usage limit makes it refuse requests.

The service has the true time, which goes on while the machine sleeps and which no clock change moves. A program shows
the end of a limit without the seconds, and the service lifts the limit a little later than that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tests.simulation.engine.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.plan import Step
    from orchestrator.testing.fake_clock import FakeClock

EVERY: Final = 0.6 * 86_400.0
"""The average number of seconds between two windows."""

OFF: Final = (0.0, 0.0, 30.0, -119.0, 119.0)
LATE: Final = (0.0, 0.0, 3.0, 61.0, 119.0, 1800.0)
LASTS: Final = (600.0, 3600.0, 3 * 3600.0, 5 * 3600.0, 26 * 3600.0)
SAYS: Final = "You've hit your limit"
LITTLE: Final = 120.0
DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Window:
    """A time in which the service refuses requests, up to `lifted`. The program shows an end `late` seconds earlier."""

    name: str
    begins: float
    lifted: float
    late: float


@dataclass(slots=True)
class Service:
    """Refuses requests in its windows.

    off: the machine's clock is fast by so many seconds from the beginning. refused: the number of refusals. delays: the
    seconds from each lift to the next request of a refused step; limits that are lifted more than `LITTLE` late do not
    count.
    """

    clock: FakeClock
    scenario: Scenario
    off: float = field(init=False)
    refused: int = 0
    delays: list[float] = field(default_factory=list)
    ended: bool = False
    _apart: float = field(init=False)
    _windows: Iterator[Window] = field(init=False)
    _window: Window = field(init=False)
    _waits: dict[str, Window] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Derive the true time from the machine's clock."""
        self.off = self.scenario.random("service.off").choice(OFF)
        self._apart = self.clock.now() - self.off - self.clock.monotonic() - self.clock.asleep()
        self._windows = self._drawn(self.now())
        self._window = next(self._windows)

    def now(self) -> float:
        """Return the true time."""
        return self.clock.monotonic() + self.clock.asleep() + self._apart

    def end(self) -> None:
        """Refuse nothing any more."""
        self.ended = True

    def refusal(self, step: str) -> str:
        """Return the message of an agent's program if the service refuses a step's request, or an empty text."""
        now = self.now()
        while self._window.lifted <= now:
            self._window = next(self._windows)
        window = self._window
        if self.ended or now < window.begins or not self.scenario.allows(window.name):
            before = self._waits.pop(step, None)
            if before is not None and before.late <= LITTLE and not self.ended:
                self.delays.append(now - before.lifted)
            return ""
        self._waits[step] = window
        self.refused += 1
        at, shown = window.lifted - window.late, "%-I:%M%p"
        date = "%b %d, " if at - self.clock.now() > DAY else ""
        return f"{SAYS} · resets {time.strftime(date + shown, time.gmtime(at)).lower()} (UTC)"

    def overslept(self, step: Step) -> str:
        """Return what is wrong with the wait of a refused step, or an empty text if it is tried in time.

        A step that may be tried by now is right: if its limit ended a while ago, the machine slept through that.
        """
        limit, window = step.limit, self._window
        if limit is None or not step.limited or not limit.words.startswith(SAYS):
            return ""
        off = self.clock.now() - self.now()
        if step.not_before <= self.clock.now():
            return ""
        if abs(off) > LITTLE or not window.begins <= limit.at - off < window.lifted:
            return ""
        slack = LITTLE if window.late <= LITTLE else 900.0
        wasted = step.not_before - off - max(window.lifted, limit.at - off)
        if wasted <= slack:
            return ""
        return f"{step.id} waits {wasted:.0f} s longer than its limit lasts, which is lifted {window.late:.0f} s late"

    def _drawn(self, begins: float) -> Iterator[Window]:
        number, random = 0, self.scenario.random("service.windows")
        while True:
            number += 1
            begins += random.expovariate(1 / EVERY)
            lasts, late = random.choice(LASTS), random.choice(LATE)
            lifted = float(int(begins + lasts)) + late
            yield Window(f"limit.{number}", begins, lifted, late)
            begins = lifted
