"""The model's service that all agents of a world use: now and then it refuses them for a while, by a usage limit.

Its time is the true one: it goes on while the machine sleeps, and no clock that is set moves it. When it says that a
limit ends is shown by a program without the seconds; and the limit is lifted a little later than that.
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
"""Seconds between two windows, on average."""

OFF: Final = (0.0, 0.0, 30.0, -119.0, 119.0)
LATE: Final = (0.0, 0.0, 3.0, 61.0, 119.0, 1800.0)
LASTS: Final = (600.0, 3600.0, 3 * 3600.0, 5 * 3600.0, 26 * 3600.0)
SAYS: Final = "You've hit your limit"
LITTLE: Final = 120.0
DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Window:
    """A time in which the service refuses, up to `lifted`. It says that this is `late` seconds earlier."""

    name: str
    begins: float
    lifted: float
    late: float


@dataclass(slots=True)
class Service:
    """Refuses in its windows. `refused` counts how often, `dead` holds how long after each lift the next request came.

    Of limits that are lifted later than `LITTLE` after what was said of them that is not held.

    The machine's clock is fast by `off` seconds from the beginning on.
    """

    clock: FakeClock
    fate: Scenario
    off: float = field(init=False)
    refused: int = 0
    dead: list[float] = field(default_factory=list)
    ended: bool = False
    _apart: float = field(init=False)
    _windows: Iterator[Window] = field(init=False)
    _window: Window = field(init=False)
    _waits: dict[str, Window] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Set the true time by the machine's clock, as far as that is right."""
        self.off = self.fate.random("service.off").choice(OFF)
        self._apart = self.clock.now() - self.off - self.clock.monotonic() - self.clock.asleep()
        self._windows = self._drawn(self.now())
        self._window = next(self._windows)

    def now(self) -> float:
        """Return the true time."""
        return self.clock.monotonic() + self.clock.asleep() + self._apart

    def end(self) -> None:
        """Refuse nobody any more."""
        self.ended = True

    def refusal(self, step: str) -> str:
        """Return what an agent's program says when the service refuses a step's request; nothing if it does not."""
        now = self.now()
        while self._window.lifted <= now:
            self._window = next(self._windows)
        window = self._window
        if self.ended or now < window.begins or not self.fate.lets(window.name):
            before = self._waits.pop(step, None)
            if before is not None and before.late <= LITTLE and not self.ended:
                self.dead.append(now - before.lifted)
            return ""
        self._waits[step] = window
        self.refused += 1
        at, shown = window.lifted - window.late, "%-I:%M%p"
        date = "%b %d, " if at - self.clock.now() > DAY else ""
        return f"{SAYS} · resets {time.strftime(date + shown, time.gmtime(at)).lower()} (UTC)"

    def overslept(self, step: Step) -> str:
        """Return what is wrong with how long a step waits that was refused; nothing if it is tried in time.

        One that may be tried by now waits no longer: if its limit ended a while ago, the machine slept through that.
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
        number, random = 0, self.fate.random("service.windows")
        while True:
            number += 1
            begins += random.expovariate(1 / EVERY)
            lasts, late = random.choice(LASTS), random.choice(LATE)
            lifted = float(int(begins + lasts)) + late
            yield Window(f"limit.{number}", begins, lifted, late)
            begins = lifted
