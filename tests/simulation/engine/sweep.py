"""Runs one small task again and again, with a kill ahead of another change each time. All must end alike."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.simulation.engine.audit import Audit
from tests.simulation.engine.faults import CALM, DAY, NEVER, Faults
from tests.simulation.engine.invariants import Invariants
from tests.simulation.engine.law import Broken, Finding, Law, found_in
from tests.simulation.engine.ledger import Ledger
from tests.simulation.engine.run import let_agents_exit
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import GOOD
from tests.simulation.engine.user import CRITERIA
from tests.simulation.engine.user_task import PROJECT, UserTask
from tests.simulation.engine.world import World, listening


@dataclass(frozen=True, slots=True)
class Ending:
    """How the task ended: the state and the attempt of each step, and the content of the branch."""

    task: str
    steps: dict[str, tuple[str, int]]
    contents: dict[str, str]
    commits: int


def run_small_task(
    kill_at: int | None = None,
    *,
    kill_in: str = "",
    power: bool = False,
    nudged: bool = False,
    hooks: bool = False,
) -> tuple[Ending, Faults]:
    """Run one task with one subtask to its end. Return how it ended, and the faults, which count the changes.

    Args:
        kill_at: The number of the change ahead of which the daemon is killed.
        kill_in: Kill it ahead of the first change in a folder of this name.
        power: The machine goes down with the daemon.
        nudged: Agents report only after somebody types to them.
        hooks: Their programs emit hook events, and wait for answers.

    Raises:
        AssertionError: a law was broken.

    """
    user_task = UserTask("alpha", checks=True, listens=nudged, hooks=hooks)
    behaviour = replace(GOOD, reticent=nudged, overlapping=0.0)
    world = World(Scenario(f"sweep {kill_at}"), (user_task,), behaviour, deaf=0.0, slow=hooks)
    faults = Faults(world, CALM, replace(NEVER, torn=1.0), kill_at=kill_at, kill_in=kill_in, with_power=power)
    invariants = Invariants(world)
    faults.begin()
    invariants.begin()
    with listening(world):
        world.start(user_task, "Make it so", CRITERIA[:1])
        world.boot()
        end = world.clock.monotonic() + DAY
        while world.shown(user_task).get("state") != "complete" and world.go_on(until=end):
            pass
        let_agents_exit(world)
        if world.daemon.loop is None:
            world.boot()
            let_agents_exit(world)
        invariants.at_end()
    return _ending(world, user_task), faults


def _ending(world: World, user_task: UserTask) -> Ending:
    state = Audit(Ledger(world.settings.limits)).read(world.files, user_task.home).state
    workspaces = world.workspaces
    tip = workspaces.refs(PROJECT)[state.branch]
    commits, here = 0, tip
    while here != state.base:
        commits, here = commits + 1, workspaces.commits[here].parent
    steps = {step.id: (step.state.value, step.attempt) for step in state.steps.values()}
    return Ending(state.state.value, steps, dict(workspaces.commits[tip].contents), commits)


def sweep(numbers: range, *, power: bool = False, nudged: bool = False) -> int:
    """Run the task with a kill ahead of each of these changes. Return the number of kills. Raises Broken."""
    well, _ = run_small_task(nudged=nudged)
    for number in numbers:
        about = f"killed ahead of change {number}{' with power' if power else ''}"
        try:
            ending, _ = run_small_task(number, power=power, nudged=nudged)
        except AssertionError as error:
            raise Broken([each.about(about) for each in found_in(error)]) from error
        if ending != well:
            raise Broken([Finding(Law.SAME_END, f"{about}, it ended as {ending} and not as {well}")])
    return len(numbers)
