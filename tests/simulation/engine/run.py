"""One world by its seed, from the first request to the last report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.testing.local_zone import local_zone
from tests.simulation.engine.fault_schedule import ZONE, FaultSchedule, drawn_schedule, drawn_world
from tests.simulation.engine.faults import DAY, HOUR, Faults
from tests.simulation.engine.invariants import Invariants
from tests.simulation.engine.law import Broken, Finding, Law, found_in
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import GOOD
from tests.simulation.engine.user import User
from tests.simulation.engine.world import World, listening

LAST_DAYS: Final = 3.0
"""How long a world may take to finish its tasks once the faults stop."""


class Failed(Broken):
    """A world broke laws on a `day`. `happened` has the events up to then, each with its day."""

    def __init__(self, seed: str, day: float, found: Sequence[Finding], happened: dict[str, float]) -> None:
        super().__init__(found)
        self.args = (seed, day, found, happened)  # what another process is sent
        self.seed = seed
        self.day = day
        self.happened = happened

    @property
    def law(self) -> str:
        """What is wrong, in words."""
        return super().__str__()

    def __str__(self) -> str:
        return f"seed {self.seed}, day {self.day:.4f}: {self.law}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a world: its length, the final state of each task, and how often what occurred."""

    seed: str
    schedule: str
    days: float
    tasks: dict[str, str]
    counts: Counter[str]


def simulate_world(
    seed: str,
    days: float | None = None,
    only: frozenset[str] | None = None,
    schedule: FaultSchedule | None = None,
    world_of: Callable[[Scenario], World] = drawn_world,
) -> Outcome:
    """Run a world for some days, stop the faults, let its tasks finish, and check it against every law.

    Args:
        seed: Decides all that happens.
        days: How long it runs; by default as long as its schedule says.
        only: The names of the events that may occur; by default all events of the seed.
        schedule: The fault schedule; by default the seed draws it.
        world_of: Makes the world at its beginning; by default the seed draws it.

    Raises:
        Failed: a law was broken.

    """
    scenario = Scenario(seed, only)
    schedule = schedule or drawn_schedule(scenario)
    with local_zone(ZONE):
        return _outcome(world_of(scenario), schedule, schedule.days if days is None else days)


def _outcome(world: World, schedule: FaultSchedule, days: float) -> Outcome:
    scenario = world.scenario
    begun = world.clock.monotonic()
    scenario.now = world.clock.monotonic
    faults = Faults(world, schedule.rates, schedule.chances, schedule.boxes)
    user, invariants = User(world, schedule.habits), Invariants(world)
    try:
        with listening(world):
            _run(world, faults, user, invariants, days)
    except AssertionError as error:
        days_old = {name: max(0.0, at - begun) / DAY for name, at in scenario.happened.items()}
        day = (world.clock.monotonic() - begun) / DAY
        raise Failed(scenario.seed, day, found_in(error), days_old) from error
    lasted = (world.clock.monotonic() - begun) / DAY
    ended = {
        user_task.name: world.deleted.get(user_task.id) or str(world.shown(user_task).get("state"))
        for user_task in world.user_tasks
    }
    return Outcome(scenario.seed, schedule.name, lasted, ended, _counts(world, faults, invariants))


def _run(world: World, faults: Faults, user: User, invariants: Invariants, days: float) -> None:
    faults.begin()
    invariants.begin()
    user.begin()
    world.boot()
    _until(world, user, world.clock.monotonic() + days * DAY)
    faults.end()
    world.service.end()
    if world.daemon.loop is None:
        world.boot()
    world.change_behaviour(GOOD)
    user.calm_down()
    _until(world, user, world.clock.monotonic() + LAST_DAYS * DAY, to_the_end=True)
    if not user.ended():
        states = [world.shown(user_task).get("state") for user_task in world.present]
        text = f"after {LAST_DAYS} days without faults the tasks are {states}"
        raise Broken([Finding(Law.ENDS, text)])
    let_agents_exit(world)
    invariants.at_end()


def _until(world: World, user: User, end: float, *, to_the_end: bool = False) -> None:
    while not (to_the_end and user.ended() and not world.living) and world.go_on(until=end):
        pass


def let_agents_exit(world: World) -> None:
    """Let the last processes exit, and the daemon notice it. A daemon that is killed is up again within an hour."""
    world.daemon.needs_rescan = True
    end = world.clock.monotonic() + 2 * HOUR
    while world.go_on(until=end):
        pass


def _counts(world: World, faults: Faults, invariants: Invariants) -> Counter[str]:
    """Return how often what occurred: the denominators of every claim about a world."""
    daemon, counts = world.daemon, Counter(world.counts)
    counts += world.days.counts()
    counts["turns"] = daemon.turns
    counts["tasks passivated"] = daemon.passivated
    counts["check-ins"] = daemon.check_ins
    counts["check-ins: quiet"] = daemon.quiet
    counts["check-ins: skipped, all quiet"] = daemon.left_out
    counts["runs"] = sum(host.starts.total() for host in world.hosts)
    counts["runs on boxes"] = sum(box.host.starts.total() for box in world.boxes.values())
    counts["changes"] = faults.steps
    counts["requests that a usage limit refused"] = world.service.refused
    counts["usage limits waited for"] = len(world.service.delays)
    counts["deaths of the daemon"] = faults.kills
    for kind, times in world.scenario.kinds().items():
        counts[f"happened: {kind}"] += times
    for what, times in world.shared.did.items():
        counts[f"an agent {what}"] += times
    for watched in invariants.tasks:
        audit = watched.audit
        counts["tasks"] += 1
        counts["facts"] += audit.lines
        counts["questions asked"] += audit.ledger.asked.total()
        counts["questions answered"] += audit.ledger.answered.total()
        counts["handoffs taken in"] += audit.ledger.taken.total()
        counts["merges"] += len(audit.ledger.merges)
        counts["pages compared"] += watched.pages.looked
        for kind, times in audit.ledger.facts.items():
            counts[f"fact: {kind}"] += times
    return counts
