"""What the whole daemon writes and does for a step does not grow with the plan: counted, in a fake world."""

from __future__ import annotations

from collections import Counter
from cProfile import Profile
from dataclasses import dataclass

import pytest

from orchestrator.model.settings import Settings
from orchestrator.testing.memory_files import MemoryFiles
from tests.simulation.engine import world as simulated
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import Behaviour
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World, listening

WELL = Behaviour(bad=0, rejects=0, odd=0, longest=2)
STEPS = 15
"""So many steps are counted, in the middle of a small plan as in the beginning of a large one."""

FLAT = 1.5
"""A step of a plan four times as large may cost so many times as much."""


class CountingFiles(MemoryFiles):
    """Knows how many bytes were written, by the name of the file or of its folder."""

    def __init__(self, **how):
        super().__init__(**how)
        self.bytes = Counter[str]()

    def write(self, path, data, *rest, **more):
        super().write(path, data, *rest, **more)
        self._count(path, data)

    def create(self, path, data, mode=0o600, *, durable=True):
        self._count(path, data)
        return super().create(path, data, mode, durable=durable)

    def open_log(self, path):
        log = super().open_log(path)
        append = log.append

        def counted(line, *, durable=True):
            append(line, durable=durable)
            self._count(path, line)

        log.append = counted  # type: ignore[method-assign]
        return log

    def _count(self, path, data):
        self.bytes[
            path.name if path.name in {"state.json", "pm_state.json", "progress.md"} else path.parent.name
        ] += len(data)


@dataclass
class Cost:
    """What so many steps cost: bytes written, and calls of Python, by the daemon, its world and its agents."""

    bytes: Counter[str]
    calls: int = 0


def cost(subtasks, monkeypatch):
    monkeypatch.setattr(simulated, "MemoryFiles", CountingFiles)
    behaviour = Behaviour(bad=0, rejects=0, odd=0, longest=WELL.longest, subtasks=subtasks)
    world = World(Scenario("scale"), (UserTask("alpha"),), behaviour, Settings(), deaf=0.0, slow=False)
    with listening(world):
        world.boot()
        world.start(world.user_tasks[0], "much to do", ("it works",))
        until(world, STEPS)
        files = world.files
        assert isinstance(files, CountingFiles)
        before = Counter(files.bytes)
        with Profile(builtins=False) as counted:
            until(world, 2 * STEPS)
    assert not world.complaints
    return Cost(files.bytes - before, sum(each.callcount for each in counted.getstats()))


def until(world, steps):
    """Go on until so many steps have passed."""
    while passed(world) < steps:
        assert world.go_on(until=world.clock.monotonic() + 86400), "it does not go on"


def passed(world):
    for task in world.tasks().values():
        plan = task.engine.state.steps
        return len(plan) - plan.unsettled.bit_count()
    return 0


@pytest.fixture(scope="module")
def costs():
    with pytest.MonkeyPatch.context() as monkeypatch:
        return [cost(subtasks, monkeypatch) for subtasks in (100, 400)]


def test_what_is_written_for_a_step_does_not_grow_with_the_plan(costs):
    small, large = costs
    assert large.bytes.total() <= FLAT * small.bytes.total(), (small.bytes, large.bytes)
    for name in ("journal", "pages", "state.json"):
        assert 0 < large.bytes[name] <= FLAT * small.bytes[name], name


def test_what_is_done_for_a_step_does_not_grow_with_the_plan(costs):
    small, large = costs
    assert large.calls <= FLAT * small.calls
