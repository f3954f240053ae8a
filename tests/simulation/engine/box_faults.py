"""Faults of boxes and of the connections to them: cuts at any moment, reboots, refused logins, a lost disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.boxes.host_monitor import EVERY
from orchestrator.hosts.ssh.marks import MARK
from orchestrator.ports.host import LaunchSpec
from orchestrator.testing.fake_box import Box, Break

if TYPE_CHECKING:
    from tests.simulation.engine.world import World

MINUTE: Final = 60.0
HOUR: Final = 3600.0
DAY: Final = 24 * HOUR

CUTS: Final = ((1.0, 20.0), (1.0, 20.0), (MINUTE, 15 * MINUTE), (HOUR, 4 * HOUR), (6 * HOUR, 12 * HOUR))
"""Ranges of the length of a cut, in seconds. One of them is drawn."""

NOTICED_AFTER: Final = 10.0
"""Seconds after which the daemon notices that a connection is dead."""

AT: Final = {
    "launch": 0.05,
    "send": 0.005,
    "bring": 0.1,
    "look at HEAD": 0.005,
    "send a commit": 0.1,
    "advance HEAD": 0.1,
    "pull": 0.003,
    "prepare": 0.01,
    "end": 0.02,
    "answer": 0.02,
}
"""The probability of a cut during each operation."""


@dataclass(frozen=True, slots=True)
class BoxRates:
    """How often each fault hits each box, in times per simulated day. `at` multiplies the probabilities of `AT`."""

    cut: float = 3.0
    reboot: float = 0.5
    refuse: float = 0.3
    empty: float = 0.3
    wipe: float = 0.1
    hinder: float = 0.3
    at: float = 1.0


@dataclass(slots=True)
class BoxFaults:
    """Brings faults to boxes. `happens` decides whether an event of a name and a probability occurs."""

    world: World
    rates: BoxRates
    happens: Callable[[str, float], bool]
    calm: bool = False
    _times: Counter[tuple[str, str]] = field(default_factory=Counter)
    _cut_until: dict[str, float] = field(default_factory=dict)
    _wiped: int = 0

    def begin(self, before: Callable[[str, str], None], waits: Callable[[LaunchSpec], float]) -> None:
        """Plan the first faults. `before` is called ahead of each change on a box, `waits` by its launchers."""
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
                        self.world.scenario.random(f"boxes.{kind}s.{name}"),
                        rate / DAY,
                        1,
                        name,
                    )

    def end(self) -> None:
        """Stop all faults, and repair all boxes."""
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
            if self.world.scenario.allows(name := f"boxes-{kind}.{box}/{number}"):
                fault(self.world.scenario.random(name))

        self.world.clock.after(moments.expovariate(rate), happen)

    def _frail(self, box: Box, what: str) -> Break:
        chance = AT.get(what, 0.0) * self.rates.at
        if not chance or self.calm:
            return ""
        self._times[box.name, what] += 1
        name = f"boxes-cut-at-{what}.{box.name}/{self._times[box.name, what]}"
        if not self.happens(name, chance):
            return ""
        random = self.world.scenario.random(f"{name}/how")
        self._cut(box, random)
        return random.choice(("ahead", "behind"))

    def _cut(self, box: Box, random: Random) -> None:
        self._cut_for(box, random.uniform(*random.choice(CUTS)))

    def _cut_for(self, box: Box, seconds: float) -> None:
        clock = self.world.clock
        box.cut = True
        self._cut_until[box.name] = max(self._cut_until.get(box.name, 0.0), clock.monotonic() + seconds)
        clock.after(min(NOTICED_AFTER, seconds), box.tell)
        clock.after(seconds, partial(self._reconnect, box))

    def _reconnect(self, box: Box) -> None:
        if self.world.clock.monotonic() >= self._cut_until[box.name]:
            box.cut = False

    def _reboot(self, box: Box, random: Random) -> None:
        """Reboot: no process survives, and the disk stays as it is."""
        box.host.lose_power()
        self._cut_for(box, random.uniform(20.0, 10 * MINUTE))

    def _refuse(self, box: Box, random: Random) -> None:
        """Refuse every new connection until a person has repaired that: soon, late, or never."""
        box.refuses = True
        self._cut_for(box, random.uniform(0.5, 20.0))
        repaired_after = random.choice((10 * MINUTE, 3 * HOUR, DAY, 30 * DAY))

        def repair() -> None:
            box.refuses = False

        self.world.clock.after(repaired_after, repair)

    def _empty(self, box: Box, random: Random) -> None:
        """Remove the disk, and bring it back after a while."""
        box.emptied = True

        def back() -> None:
            box.emptied = False
            box.tell()

        self.world.clock.after(random.uniform(MINUTE, DAY), back)

    def _hinder(self, box: Box, random: Random) -> None:
        """Remove rsync, and bring it back after a while."""
        if box.hindered_since is None:
            box.hindered_since = self.world.clock.monotonic()
            # The monitor of a box notices at its next round by schedule: the model makes none where nothing happened.
            self.world.clock.after(EVERY, box.tell)

        def back() -> None:
            box.hindered_since = None

        self.world.clock.after(random.uniform(MINUTE, random.choice((HOUR, DAY))), back)

    def _wipe(self, box: Box, random: Random) -> None:
        """Replace the machine: no process survives, and our folders are empty until a person creates them again."""
        box.host.lose_power()
        if box.files.entry(box.root) is not None:
            self._wiped += 1
            box.files.rename(box.root, box.root.with_name(f"{box.root.name}-{self._wiped}"))
        self._cut_for(box, random.uniform(20.0, 10 * MINUTE))
        self.world.clock.after(random.choice((10 * MINUTE, 3 * HOUR, DAY)), partial(self._begin_anew, box))

    def _begin_anew(self, box: Box) -> None:
        """Create the missing marks, as the daemon's log tells the user to."""
        for user_task in self.world.user_tasks:
            own = layout.task_home(box.root, user_task.id)
            shared = layout.task_folder(box.place, user_task.name)
            if box.files.entry(shared / MARK) is not None and box.files.entry(own / MARK) is None:
                box.files.make_folder(own)
                box.files.write(own / MARK, user_task.id.encode())
