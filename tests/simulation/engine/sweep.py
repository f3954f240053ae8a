"""One small life, told again and again, each time with the daemon killed at another change: all must end alike."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.simulation.engine.audit import Audit
from tests.simulation.engine.faults import CALM, DAY, NEVER, Faults
from tests.simulation.engine.invariants import Broken, Invariants
from tests.simulation.engine.ledger import Ledger
from tests.simulation.engine.run import let_everybody_leave
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import GOOD
from tests.simulation.engine.user import CRITERIA
from tests.simulation.engine.user_task import PROJECT, UserTask
from tests.simulation.engine.world import World, listening


@dataclass(frozen=True, slots=True)
class Ending:
    """What a life led to: the state and the attempt of each step, and what the task's branch holds."""

    task: str
    steps: dict[str, tuple[str, int]]
    contents: dict[str, str]
    commits: int


def told(
    kill_at: int | None = None,
    *,
    kill_in: str = "",
    power: bool = False,
    nudged: bool = False,
    tells: bool = False,
) -> tuple[Ending, Faults]:
    """Let one task with one subtask be done; return how it ended, and the faults, which count the changes.

    `kill_at` is the number of the change ahead of which the daemon is killed, or it is killed ahead of the first
    change in a folder of the name `kill_in`; with `power` the machine goes down with it. Where they are to be
    `nudged`, agents report only when something was typed to them; with `tells` their programs tell of their turns,
    and wait for answers.

    Raises:
        AssertionError: a law was broken.

    """
    wish = UserTask("alpha", checks=True, listens=nudged, tells=tells)
    world = World(Scenario(f"sweep {kill_at}"), (wish,), replace(GOOD, reticent=nudged), deaf=0.0, slow=tells)
    faults = Faults(world, CALM, replace(NEVER, torn=1.0), kill_at=kill_at, kill_in=kill_in, with_power=power)
    invariants = Invariants(world)
    faults.begin()
    invariants.begin()
    with listening(world):
        world.start(wish, "Make it so", CRITERIA[:1])
        world.boot()
        end = world.clock.monotonic() + DAY
        while world.shown(wish).get("state") != "complete" and world.go_on(until=end):
            pass
        let_everybody_leave(world)
        if world.daemon.loop is None:
            world.boot()
            let_everybody_leave(world)
        invariants.at_end()
    return _ending(world, wish), faults


def _ending(world: World, wish: UserTask) -> Ending:
    state = Audit(Ledger(world.settings.limits)).read(world.files, wish.home).state
    workspaces = world.workspaces
    tip = workspaces.refs(PROJECT)[state.branch]
    commits, here = 0, tip
    while here != state.base:
        commits, here = commits + 1, workspaces.commits[here].parent
    steps = {step.id: (step.state.value, step.attempt) for step in state.steps.values()}
    return Ending(state.state.value, steps, dict(workspaces.commits[tip].contents), commits)


def sweep(numbers: range, *, power: bool = False, nudged: bool = False) -> int:
    """Tell the life with a kill at each of these changes. Return how many kills there were. Raises Broken."""
    well, _ = told(nudged=nudged)
    for number in numbers:
        try:
            ending, _ = told(number, power=power, nudged=nudged)
        except AssertionError as error:
            raise Broken(
                f"killed ahead of change {number}{' with power' if power else ''}: {error}"
            ) from error
        if ending != well:
            raise Broken(f"killed ahead of change {number}, it ended as {ending} and not as {well}")
    return len(numbers)
