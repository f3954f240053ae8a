"""What goes wrong, by seed: kills between any two steps, power cuts, dead and frozen tmux, full disks, clocks."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from orchestrator.model.errors import Unavailable
from orchestrator.testing.simulation.daemon import Killed
from orchestrator.testing.simulation.world import World

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Rates:
    """How often what happens, in times per simulated day.

    Within `steps` changes a daemon that is to be killed is. `late_launchers` and `at_launch` are chances: that a
    launcher takes longer than it may, and that the daemon is killed in the very moment of a launch.
    """

    kills: float = 3.0
    power: float = 0.3
    tmux: float = 0.3
    frozen: float = 0.5
    full: float = 0.3
    git: float = 0.5
    clock: float = 0.2
    late_launchers: float = 0.01
    at_launch: float = 0.02
    steps: int = 120


CALM: Final = Rates(0, 0, 0, 0, 0, 0, 0, 0, 0)
"""Nothing goes wrong."""


@dataclass(slots=True)
class Faults:
    """Brings faults into a world.

    `steps` counts every change that the daemon makes; it is killed ahead of the one whose number is `kill_at`,
    `with_power` together with the whole machine.
    """

    world: World
    rates: Rates
    steps: int = 0
    kill_at: int | None = None
    with_power: bool = False
    kills: int = 0
    full: bool = False
    locked: bool = False
    calm: bool = False
    torn: list[Path] = field(default_factory=list)
    _before: tuple[str, Path] = ("", Path())

    def begin(self) -> None:
        """Take a place ahead of every change, and let the first faults come."""
        world, rates = self.world, self.rates
        world.files.before = self._before_file
        world.workspaces.before = self._before_git
        world.host.before = self._before_tmux
        world.host.launchers_wait = lambda _: 40.0 if self._chance(rates.late_launchers) else 0.0
        world.on_kill.append(self._died)
        for rate, fault in (
            (rates.kills, self._kill_soon),
            (rates.power, self._cut_power),
            (rates.tmux, self._kill_tmux),
            (rates.frozen, self._freeze_tmux),
            (rates.full, self._fill_disk),
            (rates.git, self._lock_git),
            (rates.clock, self._move_clock),
        ):
            if rate:
                self._again_and_again(rate, fault)

    def end(self) -> None:
        """Let nothing more go wrong."""
        self.calm = True
        self.kill_at = None
        self.full = self.locked = False
        self.world.host.frozen = False

    # When -----------------------------------------------------------------------------------------

    def _again_and_again(self, per_day: float, fault: Callable[[], None]) -> None:
        def happen() -> None:
            if not self.calm:
                self._again_and_again(per_day, fault)
                fault()

        self.world.clock.after(self.world.random.expovariate(per_day / (24 * HOUR)), happen)

    def _chance(self, chance: float) -> bool:
        return not self.calm and self.world.random.random() < chance

    # What -----------------------------------------------------------------------------------------

    def _before_file(self, step: str, path: Path) -> None:
        self._count(step, path)
        if self.full and step in {"write", "append", "mkdir"}:
            self.world.trouble_at = self.world.clock.monotonic()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    def _before_git(self, step: str, path: Path) -> None:
        self._count(step, path)
        if self.locked:
            self.locked = False
            raise Unavailable("git: another process holds index.lock")
        self.world.tree_changes(step, path)

    def _before_tmux(self, step: str, about: str) -> None:
        self._count(step, Path(about))
        if step == "launch" and self._chance(self.rates.at_launch):
            self.world.clock.after(self.world.random.uniform(0, 0.01), self._kill)

    def _count(self, step: str, path: Path) -> None:
        """Count a change that the daemon is about to make, and kill it there if it is time."""
        self.steps += 1
        before, self._before = self._before, (step, path)
        if self.kill_at is None or self.steps < self.kill_at:
            return
        self.kill_at = None
        # A line that was being written may lie there in part: it was not yet acted on.
        # (A power cut takes it away whole or in part by itself, and nothing that was fsynced.)
        if not self.with_power and step == "fsync" and before == ("append", path) and path.suffix == ".jsonl":
            self.torn.append(path)
        self.world.daemon.drop(power=self.with_power)
        if self.with_power:
            self.world.host.lose_power()
        raise Killed

    def _kill(self) -> None:
        """Kill the daemon now. If it waits for something just then, it does nothing after that."""
        if self.world.daemon.loop is not None and not self.calm:
            self.world.daemon.drop()
            raise Killed

    def _kill_soon(self) -> None:
        self.kill_at = self.steps + self.world.random.randint(1, self.rates.steps)

    def _died(self) -> None:
        """Leave what a kill leaves, and start again after a while."""
        self.kills += 1
        random, files = self.world.random, self.world.files
        for path in self.torn:
            if random.random() < 0.7:  # noqa: PLR2004 (a chance)
                data = files.read(path)
                cut = random.choice((1, 2, random.randint(1, 200)))
                last = data.rstrip(b"\n").rfind(b"\n") + 1
                self.world.save(path, data[: max(last, len(data) - cut)])
        self.torn.clear()
        self.world.clock.after(random.choice((0.0, 1.0, 1.0, 60.0, HOUR)), self._boot)

    def _boot(self) -> None:
        if self.world.daemon.loop is None:
            self.world.boot()

    def _cut_power(self) -> None:
        was_up = self.world.daemon.loop is not None
        self.world.daemon.drop(power=True, torn=self.world.random.choice((0, 0, 10, 1000)))
        self.world.host.lose_power()
        if was_up:
            raise Killed

    def _kill_tmux(self) -> None:
        self.world.host.kill_server()

    def _freeze_tmux(self) -> None:
        self.world.host.frozen = True
        self.world.clock.after(self.world.random.uniform(1, 300), self._thaw_tmux)

    def _thaw_tmux(self) -> None:
        self.world.host.frozen = False

    def _fill_disk(self) -> None:
        self.full = True
        self.world.clock.after(self.world.random.uniform(10, HOUR), self._free_disk)

    def _free_disk(self) -> None:
        self.full = False

    def _lock_git(self) -> None:
        self.locked = True

    def _move_clock(self) -> None:
        by = self.world.random.choice((-HOUR, HOUR, 8 * HOUR, 24 * HOUR, -5.0))
        if by > 0 and self.world.random.random() < 0.5:  # noqa: PLR2004 (a chance)
            self.world.clock.suspend(by)
        else:
            self.world.clock.jump(by)
