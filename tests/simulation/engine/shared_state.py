"""What all agents of a world share: where they write, how they are, and what was seen of them."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from orchestrator.ports.host import LaunchSpec
from orchestrator.testing.fake_box import Clone
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_process import FakeProcess, Signalled
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.testing.memory_files import MemoryFiles
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.service import Service

Life = Generator[float, None, int]
CHECK: Final = ("check",)


@dataclass(frozen=True, slots=True)
class Manners:
    """How agents are. The first four are chances, from 0 to 1; `longest` is the most minutes of work.

    `bad`: something goes wrong in a run. `rejects`: a judge rejects. `odd`: a good run does something strange.
    `leaves`: a run leaves a process behind. `subtasks` are those of a plan. `stubborn` is the chance that a step is
    blocked by the same thing each time. `reticent` agents report only when something is typed to them.
    """

    bad: float = 0.2
    rejects: float = 0.15
    odd: float = 0.2
    leaves: float = 0.1
    longest: float = 120.0
    subtasks: int = 3
    stubborn: float = 0.0
    reticent: bool = False


GOOD: Final = Manners(bad=0, rejects=0, odd=0, leaves=0, longest=1, subtasks=1)
"""As they are when a world is to come to its end."""


@dataclass(frozen=True, slots=True)
class Said:
    """A report that was put in `handoffs/`, here or on a box, and its bytes. One that `counts` must not be lost."""

    name: str
    data: bytes
    counts: bool
    box: str = ""


@dataclass(slots=True)
class SharedState:
    """What agents share. `wrote` is called with every path that one writes.

    `criteria` are those of each task, by its folder. `did` counts what agents did that was not simply well,
    `signs` are the monotonic moments at which each run last showed that it works, `answered` those at which its model
    last did. `vanished` are the trees that somebody took away. On a `box` they use its `clone`.
    """

    files: MemoryFiles
    workspaces: FakeWorkspaces
    clock: FakeClock
    wrote: Callable[[Path], None]
    manners: Manners
    fate: Scenario
    life_of: Callable[[SharedState, Dice], Callable[[FakeProcess], Life]]
    service: Service
    criteria: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    said: dict[str, list[Said]] = field(default_factory=dict)
    lost_work: list[str] = field(default_factory=list)
    signs: dict[str, float] = field(default_factory=dict)
    answered: dict[str, float] = field(default_factory=dict)
    runs: Counter[str] = field(default_factory=Counter)
    did: Counter[str] = field(default_factory=Counter)
    vanished: set[Path] = field(default_factory=set)
    box: str = ""
    clone: Clone | None = None

    def program_of(self, spec: LaunchSpec) -> Callable[[FakeProcess], Life]:
        """Return what the agent of a run will do. It depends on its step, attempt and how often it was tried."""
        step = work_of(spec)
        self.runs[step] += 1
        dice = Dice(self, f"agent.{step}/{self.runs[step]}")
        return Check(dice) if spec.argv == CHECK else self.life_of(self, dice)

    def write(self, path: Path, data: bytes) -> None:
        """Put a file in place, whole."""
        self.files.put(path, data)
        self.wrote(path)


def work_of(spec: LaunchSpec) -> str:
    """Return what a run is for: its task, step and attempt."""
    return "/".join(spec.environment[f"ORCHESTRATOR_{name}"] for name in ("TASK", "STEP", "ATTEMPT"))


class Dice:
    """The dice of one run. What is not simply well happens only if fate lets it."""

    def __init__(self, desk: SharedState, name: str) -> None:
        self.random: Random = desk.fate.random(name)
        self.name = name
        self._desk = desk

    def strays(self, chance: float) -> bool:
        """Tell whether the run leaves the straight way here."""
        return self.random.random() < chance and self._desk.fate.lets(self.name)

    def did(self, what: str) -> None:
        """Count what it did then."""
        self._desk.did[what] += 1

    @property
    def manners(self) -> Manners:
        """How agents are by now."""
        return self._desk.manners


class Check:
    """A command that the daemon runs itself."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice

    def __call__(self, process: FakeProcess) -> Life:
        """Take a while and exit with a verdict."""
        process.say("checking")
        yield self._dice.random.uniform(1, 300)
        if self._dice.strays(self._dice.manners.bad / 4):
            self._dice.did("check: dies")
            raise Signalled(signal.SIGSEGV)
        return int(self._dice.strays(self._dice.manners.rejects))
