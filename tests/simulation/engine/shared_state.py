"""The state that all agents of a world share: their adapters, their behaviour, and what they did."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final

from orchestrator.ports.host import LaunchSpec
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_clone import Clone
from orchestrator.testing.fake_process import FakeProcess, Signalled
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.testing.memory_files import MemoryFiles
from tests.simulation.engine.archive_edits import ArchiveEdit
from tests.simulation.engine.law import Finding
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.service import Service

Life = Generator[float, None, int]
HELPER: Final = "helper"
"""An agent that does subtasks beside the developer."""

CHECK: Final = ("check",)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How agents behave.

    bad: the probability that a run goes wrong. rejects: that a reviewer rejects. odd: that a good run does something
    unusual. leftovers: that a run leaves a process behind. longest: the most minutes of work. subtasks: how many a plan
    has. stubborn: the probability that one cause blocks a step each time. reticent: agents report only after somebody
    types to them. overlapping: the share of tasks whose subtasks change one file in common.
    asks: the probability that an agent of a workflow escalates what others are to answer.
    """

    bad: float = 0.2
    rejects: float = 0.15
    odd: float = 0.2
    leftovers: float = 0.1
    longest: float = 120.0
    subtasks: int = 3
    stubborn: float = 0.0
    reticent: bool = False
    overlapping: float = 0.3
    asks: float = 0.0


GOOD: Final = Behaviour(bad=0, rejects=0, odd=0, leftovers=0, longest=1, subtasks=1)
"""For the end of a world: nothing goes wrong any more."""


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report that an agent wrote to `handoffs/`, here or on a box. The PM must not lose one that `counts`."""

    name: str
    data: bytes
    counts: bool
    box: str = ""


@dataclass(slots=True)
class SharedState:
    """What agents share.

    wrote: called with every path that an agent writes. criteria: the success criteria by task folder. reports: what
    each run wrote. found: what agents found wrong. signs: the monotonic time at which each run last showed progress.
    answered: the same of its model. did: how often agents did what. vanished: the worktrees that somebody removed.
    verdicts: what each run of a workflow's verifier really said. claims: which runs wrote `verified` for an
    agent, and when. answers: what those who answer really wrote about the notes of an agent.
    memories: the SHA-256 of each memory file that the agents of phases really left, by its path in the project.
    archive_edits: what agents of roles wrote into the archive of handoffs.
    box, clone: where these agents run, if not here. helped: the folders of tasks with two agents that do subtasks.
    """

    files: MemoryFiles
    workspaces: FakeWorkspaces
    clock: FakeClock
    wrote: Callable[[Path], None]
    behaviour: Behaviour
    scenario: Scenario
    life_of: Callable[[SharedState, Dice], Callable[[FakeProcess], Life]]
    service: Service
    criteria: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    reports: dict[str, list[WrittenReport]] = field(default_factory=dict)
    found: list[Finding] = field(default_factory=list)
    signs: dict[str, float] = field(default_factory=dict)
    answered: dict[str, float] = field(default_factory=dict)
    runs: Counter[str] = field(default_factory=Counter)
    did: Counter[str] = field(default_factory=Counter)
    vanished: set[Path] = field(default_factory=set)
    verdicts: dict[str, list[Any]] = field(default_factory=dict)
    claims: dict[tuple[Path, str], list[tuple[float, str]]] = field(default_factory=dict)
    answers: dict[tuple[Path, str, str], set[str]] = field(default_factory=dict)
    memories: dict[str, set[str]] = field(default_factory=dict)
    archive_edits: list[ArchiveEdit] = field(default_factory=list)
    box: str = ""
    clone: Clone | None = None
    helped: set[Path] = field(default_factory=set)

    def program_of(self, spec: LaunchSpec) -> Callable[[FakeProcess], Life]:
        """Return what the agent of a run will do. It depends on the step, the attempt, and the number of runs of it."""
        step = work_of(spec)
        self.runs[step] += 1
        dice = Dice(self, f"agent.{step}/{self.runs[step]}")
        return Check(dice) if spec.argv == CHECK else self.life_of(self, dice)

    def knows(self, path: str, data: bytes) -> None:
        """Note what an author really left as a memory file."""
        self.memories.setdefault(path, set()).add(sha256(data).hexdigest())

    def write(self, path: Path, data: bytes) -> None:
        """Write a whole file at once."""
        self.files.put(path, data)
        self.wrote(path)


def work_of(spec: LaunchSpec) -> str:
    """Return what a run works on: task, step and attempt."""
    return "/".join(spec.environment[f"ORCHESTRATOR_{name}"] for name in ("TASK", "STEP", "ATTEMPT"))


class Dice:
    """The random numbers of one run. It deviates from the plain course only if the scenario allows that."""

    def __init__(self, shared: SharedState, name: str) -> None:
        self.random: Random = shared.scenario.random(name)
        self.name = name
        self._shared = shared

    @property
    def overlaps(self) -> bool:
        """Whether the subtasks of this run's task change one file in common."""
        event = f"overlap.{self.name.partition('.')[2].partition('/')[0]}"
        scenario = self._shared.scenario
        return scenario.random(event).random() < self.behaviour.overlapping and scenario.allows(event)

    def deviates(self, chance: float) -> bool:
        """Return whether the run deviates here."""
        return self.random.random() < chance and self._shared.scenario.allows(self.name)

    def did(self, what: str) -> None:
        """Count what the agent did."""
        self._shared.did[what] += 1

    @property
    def behaviour(self) -> Behaviour:
        """How agents behave now."""
        return self._shared.behaviour


class Check:
    """A check command, which the daemon runs itself."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice

    def __call__(self, process: FakeProcess) -> Life:
        """Run for a while, and exit with a verdict."""
        process.say("checking")
        yield self._dice.random.uniform(1, 300)
        if self._dice.deviates(self._dice.behaviour.bad / 4):
            self._dice.did("check: dies")
            raise Signalled(signal.SIGSEGV)
        return int(self._dice.deviates(self._dice.behaviour.rejects))
