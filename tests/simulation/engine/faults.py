"""The faults of a world, by seed: kills between any two changes, power cuts, dead and frozen tmux, full disks, clocks.

Each fault has a name, made of its kind and its number, and random numbers of its own (`scenario`).
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from random import Random
from typing import Final

from orchestrator import layout
from orchestrator.model.errors import Unavailable
from orchestrator.ports.host import LaunchSpec
from tests.simulation.engine.box_faults import BoxFaults, BoxRates
from tests.simulation.engine.daemon import Killed
from tests.simulation.engine.shared_state import work_of
from tests.simulation.engine.world import World

MINUTE: Final = 60.0
HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
MOVES: Final = (-HOUR, HOUR, 8 * HOUR, 24 * HOUR, -5.0, 5.0)


@dataclass(frozen=True, slots=True)
class Rates:
    """How often each fault occurs, in times per simulated day.

    eio: an fsync fails. fork: for a while no process can be started. launcher: a launcher dies, and its agent may live
    on. tree: somebody removes a worktree, or prunes it from git.
    """

    kill: float = 3.0
    power: float = 0.3
    tmux: float = 0.3
    frozen: float = 0.5
    full: float = 0.3
    git: float = 0.5
    clock: float = 0.2
    suspend: float = 0.2
    fork: float = 0.3
    eio: float = 0.2
    launcher: float = 1.0
    tree: float = 0.5


@dataclass(frozen=True, slots=True)
class Chances:
    """The probability of each fault at each opportunity.

    late: a launcher takes longer than it may. launch: the daemon is killed in the moment of a launch. torn: a kill
    leaves a part of the line that was being written. garbled: while the daemon is down, somebody damages the files
    that others read. steps: a planned kill comes within so many changes.
    """

    late: float = 0.01
    launch: float = 0.02
    torn: float = 0.7
    garbled: float = 0.1
    steps: int = 120


CALM: Final = Rates(*[0.0] * len(fields(Rates)))
"""No fault occurs by itself."""
NEVER: Final = Chances(0, 0, 0, 0)


@dataclass(slots=True)
class Faults:
    """Brings faults into a world.

    steps: the number of changes that the daemon has made. kill_at: kill it ahead of the change of this number.
    kill_in: kill it ahead of the first change in a folder of this name. with_power: the whole machine goes down with
    it. firsts: the number of the first change of each kind.
    """

    world: World
    rates: Rates
    chances: Chances = field(default_factory=Chances)
    boxes: BoxRates = field(default_factory=BoxRates)
    steps: int = 0
    kill_at: int | None = None
    kill_in: str = ""
    with_power: bool = False
    kills: int = 0
    firsts: dict[str, int] = field(default_factory=dict)
    calm: bool = False
    _full: bool = False
    _locked: bool = False
    _failing: bool = False
    _forkless: bool = False
    _torn: list[Path] = field(default_factory=list)
    _before: tuple[str, Path] = ("", Path())
    _box_faults: BoxFaults = field(init=False)

    def begin(self) -> None:
        """Hook into every change, and plan the first faults."""
        world = self.world
        world.files.before = self._before_file
        world.workspaces.before = self._before_git
        world.host.before = self._before_tmux
        world.phone.changes = lambda step: self._count(step, Path("phone"))
        world.host.launchers_wait = self._launcher_waits
        world.on_kill.append(self._died)
        self._box_faults = BoxFaults(world, self.boxes, self._happens)
        self._box_faults.begin(self._before_box_change, self._launcher_waits)
        for kind, fault in self._kinds().items():
            if rate := getattr(self.rates, kind):
                self._plan(kind, fault, world.scenario.random(f"{kind}s"), rate / DAY, 1)

    def end(self) -> None:
        """Stop all faults."""
        self.calm = True
        self._box_faults.end()
        self.kill_at = None
        self._full = self._locked = self._failing = self._forkless = False
        self.world.host.frozen = False

    def _kinds(self) -> dict[str, Callable[[Random], None]]:
        return {
            "kill": self._kill_soon,
            "power": self._cut_power,
            "tmux": self._kill_tmux,
            "frozen": self._freeze_tmux,
            "full": self._fill_disk,
            "git": self._lock_git,
            "clock": self._move_clock,
            "suspend": self._suspend,
            "fork": self._refuse_to_fork,
            "eio": self._fail_soon,
            "launcher": self._kill_launcher,
            "tree": self._take_tree,
        }

    # When -----------------------------------------------------------------------------------------

    def _plan(
        self, kind: str, fault: Callable[[Random], None], moments: Random, rate: float, number: int
    ) -> None:
        """Plan a fault, and the next of its kind when it occurs."""

        def happen() -> None:
            if self.calm:
                return
            self._plan(kind, fault, moments, rate, number + 1)
            if self.world.scenario.allows(name := f"{kind}.{number}"):
                fault(self.world.scenario.random(name))

        self.world.clock.after(moments.expovariate(rate), happen)

    def _happens(self, name: str, chance: float) -> bool:
        """Return whether an event with this probability occurs here."""
        scenario = self.world.scenario
        return (
            bool(chance)
            and not self.calm
            and scenario.random(name).random() < chance
            and scenario.allows(name)
        )

    # Ahead of changes -----------------------------------------------------------------------------

    def _before_file(self, step: str, path: Path) -> None:
        self._count(step, path)
        if self._full and step in {"write", "append", "mkdir"}:
            self.world.trouble_at = self.world.clock.monotonic()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        if self._failing and step == "fsync":
            self._failing = False
            self.world.trouble_at = self.world.clock.monotonic()
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    def _before_git(self, step: str, path: Path) -> None:
        self._count(step, path)
        if self._locked:
            self._locked = False
            raise Unavailable("git: another process holds index.lock")
        self._fork("git")
        self.world.tree_changes(step, path)

    def _before_tmux(self, step: str, about: str) -> None:
        self._count(step, Path(about))
        if step != "signal":
            self._fork("tmux")

    def _before_box_change(self, step: str, about: str) -> None:
        self._count(step, Path("box", about))

    def _fork(self, program: str) -> None:
        if self._forkless:
            raise Unavailable(f"{program}: {os.strerror(errno.EAGAIN)}")

    def _launcher_waits(self, spec: LaunchSpec) -> float:
        """Return how long a launcher is delayed. The daemon may be killed in the moment of the launch."""
        work = work_of(spec)
        run = f"{work}/{self.world.shared.runs[work] + 1}"
        if self._happens(f"launch.{run}", self.chances.launch):
            self.world.clock.after(self.world.scenario.random(f"moment.{run}").uniform(0, 0.01), self._kill)
        return 40.0 if self._happens(f"late.{run}", self.chances.late) else 0.0

    def _count(self, step: str, path: Path) -> None:
        """Count a change that the daemon is about to make, and kill the daemon if its time has come."""
        self.steps += 1
        self.firsts.setdefault(step, self.steps)
        if self.kill_in and path.parent.name == self.kill_in:
            self.kill_at, self.kill_in = self.steps, ""
        before, self._before = self._before, (step, path)
        if self.kill_at is None or self.steps < self.kill_at:
            return
        self.kill_at = None
        # A part of the line that was being written may stay: the daemon has not acted on it.
        # (A power cut removes all or a part of it by itself, and nothing that was fsynced.)
        if not self.with_power and step == "fsync" and before == ("append", path) and path.suffix == ".jsonl":
            self._torn.append(path)
        self.world.daemon.drop(power=self.with_power)
        if self.with_power:
            self.world.host.lose_power()
        raise Killed

    # Death ----------------------------------------------------------------------------------------

    def _kill(self) -> None:
        """Kill the daemon now, also while it waits for something."""
        if self.world.daemon.loop is not None and not self.calm:
            self.world.daemon.drop()
            raise Killed

    def _kill_soon(self, random: Random) -> None:
        self.kill_at = self.steps + random.randint(1, self.chances.steps)

    def _died(self) -> None:
        """Leave on disk what a kill leaves, and start the daemon again after a while."""
        self.kills += 1
        world = self.world
        world.days.today.deaths += 1
        random = world.scenario.random(f"death.{self.kills}")
        for path in self._torn:
            if self._happens(f"torn.{self.kills}", self.chances.torn):
                data = world.files.read(path)
                cut = random.choice((1, 2, random.randint(1, 200)))
                last = data.rstrip(b"\n").rfind(b"\n") + 1
                world.save(path, data[: max(last, len(data) - cut)])
        self._torn.clear()
        if self._happens(f"garbled.{self.kills}", self.chances.garbled):
            self._garble(random)
        world.clock.after(random.choice((0.0, 1.0, 1.0, MINUTE, HOUR)), self._boot)

    def _garble(self, random: Random) -> None:
        """Damage the files that others read of a task. The daemon must write them anew from the journal."""
        if not self.world.user_tasks:  # a shrunk failure may need no task
            return
        user_task = random.choice(self.world.user_tasks)
        for path in (
            user_task.shown,
            layout.pm_state(user_task.folder),
            layout.task_progress(user_task.folder),
        ):
            if self.world.files.entry(path) is not None:
                data = self.world.files.read(path)
                self.world.save(path, data[: len(data) // 2] if random.getrandbits(1) else b"\x00" * 64)

    def _boot(self) -> None:
        if self.world.daemon.loop is None:
            self.world.boot()

    # The faults -----------------------------------------------------------------------------------

    def _cut_power(self, random: Random) -> None:
        was_up = self.world.daemon.loop is not None
        self.world.daemon.drop(power=True, torn=random.choice((0, 0, 10, 1000)))
        self.world.host.lose_power()
        if was_up:
            raise Killed

    def _kill_tmux(self, _: Random) -> None:
        self.world.host.kill_server()

    def _kill_launcher(self, random: Random) -> None:
        """Kill the launcher of an agent. The agent may ignore the SIGHUP that follows."""
        host = random.choice(self.world.hosts)
        if agents := host.living:
            agent = random.choice(agents)
            if random.getrandbits(1):
                agent.ignores.add(signal.SIGHUP)
            host.kill_launcher(agent.run)

    def _take_tree(self, random: Random) -> None:
        """Remove a worktree, or prune it from git. An agent may be working in it."""
        if not (trees := self.world.workspaces.trees()):
            return
        path = random.choice(trees)
        if random.getrandbits(1):
            self.world.workspaces.prune(path)
        else:
            self.world.workspaces.lose(path)
            self.world.shared.vanished.add(path)
            self.world.tree_is_gone(path)

    def _freeze_tmux(self, random: Random) -> None:
        self.world.host.frozen = True
        self.world.clock.after(random.uniform(1, 5 * MINUTE), self._thaw_tmux)

    def _thaw_tmux(self) -> None:
        self.world.host.frozen = False

    def _fill_disk(self, random: Random) -> None:
        self._full = True
        self.world.clock.after(random.uniform(10, 10 * MINUTE), self._free_disk)

    def _free_disk(self) -> None:
        self._full = False

    def _refuse_to_fork(self, random: Random) -> None:
        self._forkless = True
        self.world.clock.after(random.uniform(1, 10 * MINUTE), self._fork_again)

    def _fork_again(self) -> None:
        self._forkless = False

    def _lock_git(self, _: Random) -> None:
        self._locked = True

    def _fail_soon(self, _: Random) -> None:
        self._failing = True

    def _move_clock(self, random: Random) -> None:
        self.world.clock.jump(random.choice(MOVES))

    def _suspend(self, random: Random) -> None:
        self.world.clock.suspend(random.uniform(MINUTE, 14 * HOUR))
