"""One small life, told again and again, each time with the daemon killed at another change: all must end alike."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.testing.simulation.agents import Manners
from orchestrator.testing.simulation.audit import Audit
from orchestrator.testing.simulation.faults import CALM, Faults
from orchestrator.testing.simulation.invariants import Broken, Invariants
from orchestrator.testing.simulation.run import DAY, let_everybody_leave
from orchestrator.testing.simulation.user import CRITERIA
from orchestrator.testing.simulation.world import PROJECT, Wish, World, listening

WELL_BEHAVED = Manners(bad=0, rejects=0, odd=0, longest=1, subtasks=1)


@dataclass(frozen=True, slots=True)
class Ending:
    """What a life led to: the state and the attempt of each step, and what the task's branch holds."""

    task: str
    steps: dict[str, tuple[str, int]]
    contents: dict[str, str]
    commits: int


def told(kill_at: int | None = None, *, power: bool = False) -> tuple[Ending, int]:
    """Let one task with one subtask be done; return how it ended, and how many changes the daemon made.

    `kill_at` is the number of the change ahead of which the daemon is killed; with `power` the machine goes
    down with it.

    Raises:
        AssertionError: a law was broken.

    """
    wish = Wish("alpha", checks=True)
    world = World("sweep", (wish,), WELL_BEHAVED, deaf=0.0, slow=False)
    faults, invariants = Faults(world, CALM, kill_at=kill_at, with_power=power), Invariants(world)
    faults.begin()
    invariants.begin()
    with listening(world):
        world.start(wish, "Make it so", CRITERIA[:1])
        world.boot()
        end = world.clock.monotonic() + DAY
        while world.shown(wish).get("state") != "complete" and world.go_on(until=end):
            pass
        let_everybody_leave(world)
        invariants.at_end()
    return _ending(world, wish), faults.steps


def _ending(world: World, wish: Wish) -> Ending:
    state = Audit().read(world.files, wish.home).state
    workspaces = world.workspaces
    tip = workspaces.refs(PROJECT)[state.branch]
    commits, here = 0, tip
    while here != state.base:
        commits, here = commits + 1, workspaces.commits[here].parent
    steps = {step.id: (step.state.value, step.attempt) for step in state.steps.values()}
    return Ending(state.state.value, steps, dict(workspaces.commits[tip].contents), commits)


def sweep(numbers: range, *, power: bool = False) -> int:
    """Tell the life with a kill at each of these changes. Return how many kills there were. Raises Broken."""
    well, _ = told()
    for number in numbers:
        try:
            ending, _ = told(number, power=power)
        except AssertionError as error:
            raise Broken(
                f"killed ahead of change {number}{' with power' if power else ''}: {error}"
            ) from error
        if ending != well:
            raise Broken(f"killed ahead of change {number}, it ended as {ending} and not as {well}")
    return len(numbers)
