"""What goes wrong on the way to boxes, and on them: cuts of anything at any moment, reboots, refusals, a lost disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.hosts.ssh.pull import MARK
from orchestrator.ports.host import LaunchSpec
from orchestrator.testing.fake_box import Box, Break

if TYPE_CHECKING:
    from tests.simulation.engine.world import World

MINUTE: Final = 60.0
HOUR: Final = 3600.0
DAY: Final = 24 * HOUR

CUTS: Final = ((1.0, 20.0), (1.0, 20.0), (MINUTE, 15 * MINUTE), (HOUR, 4 * HOUR), (6 * HOUR, 12 * HOUR))
"""How long a cut lasts, in seconds from and to: of these one is drawn."""

UNHEARD: Final = 10.0
"""Seconds after which it is known that a connection is dead."""

AT: Final = {
    "launch": 0.05,
    "send": 0.005,
    "bring": 0.1,
    "pull": 0.003,
    "prepare": 0.01,
    "end": 0.02,
    "answer": 0.02,
}
"""How likely it is that a cut hits what is under way, each time."""


@dataclass(frozen=True, slots=True)
class BoxRates:
    """How often what happens to each box, in times per simulated day. `at` multiplies the chances of `AT`."""

    cut: float = 3.0
    reboot: float = 0.5
    refuse: float = 0.3
    empty: float = 0.3
    wipe: float = 0.1
    hinder: float = 0.3
    at: float = 1.0


@dataclass(slots=True)
class BoxFaults:
    """Brings faults to boxes. `lets` tells whether something by a name and a chance happens."""

    world: World
    rates: BoxRates
    lets: Callable[[str, float], bool]
    calm: bool = False
    _times: Counter[tuple[str, str]] = field(default_factory=Counter)
    _cut_until: dict[str, float] = field(default_factory=dict)
    _wiped: int = 0

    def begin(self, before: Callable[[str, str], None], waits: Callable[[LaunchSpec], float]) -> None:
        """Let the first faults come. `before` is called ahead of what is done on a box, `waits` by its launchers."""
        for name, box in self.world.boxes.items():
            box.frail = partial(self._frail, box)
            box.host.before = before
            box.host.launchers_wait = waits
            for kind, fault in (
                ("cut", self._cut),
                ("reboot", self._reboot),
                ("refuse", self._refuse),
                ("empty", self._empty),
                ("wipe", self._wipe),
                ("hinder", self._hinder),
            ):
                if rate := getattr(self.rates, kind):
                    self._plan(
                        kind,
                        partial(fault, box),
                        self.world.fate.random(f"boxes.{kind}s.{name}"),
                        rate / DAY,
                        1,
                        name,
                    )

    def end(self) -> None:
        """Let nothing more go wrong, and all be mended."""
        self.calm = True
        for box in self.world.boxes.values():
            box.cut = box.refuses = box.emptied = False
            box.hindered_since = None
            self._begin_anew(box)

    def _plan(
        self, kind: str, fault: Callable[[Random], None], moments: Random, rate: float, number: int, box: str
    ) -> None:
        def happen() -> None:
            if self.calm:
                return
            self._plan(kind, fault, moments, rate, number + 1, box)
            if self.world.fate.lets(name := f"boxes-{kind}.{box}/{number}"):
                fault(self.world.fate.random(name))

        self.world.clock.after(moments.expovariate(rate), happen)

    def _frail(self, box: Box, what: str) -> Break:
        chance = AT.get(what, 0.0) * self.rates.at
        if not chance or self.calm:
            return ""
        self._times[box.name, what] += 1
        name = f"boxes-cut-at-{what}.{box.name}/{self._times[box.name, what]}"
        if not self.lets(name, chance):
            return ""
        random = self.world.fate.random(f"{name}/how")
        self._cut(box, random)
        return random.choice(("ahead", "behind"))

    def _cut(self, box: Box, random: Random) -> None:
        self._cut_for(box, random.uniform(*random.choice(CUTS)))

    def _cut_for(self, box: Box, seconds: float) -> None:
        clock = self.world.clock
        box.cut = True
        self._cut_until[box.name] = max(self._cut_until.get(box.name, 0.0), clock.monotonic() + seconds)
        clock.after(min(UNHEARD, seconds), box.tell)
        clock.after(seconds, partial(self._mend, box))

    def _mend(self, box: Box) -> None:
        if self.world.clock.monotonic() >= self._cut_until[box.name]:
            box.cut = False

    def _reboot(self, box: Box, random: Random) -> None:
        """Nobody lives; what is on the disk stays."""
        box.host.lose_power()
        self._cut_for(box, random.uniform(20.0, 10 * MINUTE))

    def _refuse(self, box: Box, random: Random) -> None:
        """Let nobody in, from the next connection on, until a person has mended that: soon, late, or not at all."""
        box.refuses = True
        self._cut_for(box, random.uniform(0.5, 20.0))
        mended = random.choice((10 * MINUTE, 3 * HOUR, DAY, 30 * DAY))

        def mend() -> None:
            box.refuses = False

        self.world.clock.after(mended, mend)

    def _empty(self, box: Box, random: Random) -> None:
        """Take the disk away, and bring it back."""
        box.emptied = True

        def back() -> None:
            box.emptied = False
            box.tell()

        self.world.clock.after(random.uniform(MINUTE, DAY), back)

    def _hinder(self, box: Box, random: Random) -> None:
        """Take rsync away, and bring it back."""
        if box.hindered_since is None:
            box.hindered_since = self.world.clock.monotonic()

        def back() -> None:
            box.hindered_since = None

        self.world.clock.after(random.uniform(MINUTE, random.choice((HOUR, DAY))), back)

    def _wipe(self, box: Box, random: Random) -> None:
        """Put a new machine in its place: nobody lives, and our folders are empty until a person begins them anew."""
        box.host.lose_power()
        if box.files.entry(box.root) is not None:
            self._wiped += 1
            box.files.rename(box.root, box.root.with_name(f"{box.root.name}-{self._wiped}"))
        self._cut_for(box, random.uniform(20.0, 10 * MINUTE))
        self.world.clock.after(random.choice((10 * MINUTE, 3 * HOUR, DAY)), partial(self._begin_anew, box))

    def _begin_anew(self, box: Box) -> None:
        """Make the marks that are missing, as the log says how."""
        for user_task in self.world.user_tasks:
            own = layout.task_home(box.root, user_task.id)
            shared = layout.task_folder(box.place, user_task.name)
            if box.files.entry(shared / MARK) is not None and box.files.entry(own / MARK) is None:
                box.files.make_folder(own)
                box.files.write(own / MARK, user_task.id.encode())
