"""One world by its seed, from the first wish to the last word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from orchestrator.testing.local_zone import local_zone
from tests.simulation.engine.fault_schedule import ZONE, FaultSchedule, drawn_climate, drawn_world
from tests.simulation.engine.faults import DAY, HOUR, Faults
from tests.simulation.engine.invariants import Broken, Invariants
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import GOOD
from tests.simulation.engine.user import User
from tests.simulation.engine.world import World, listening

LAST_DAYS: Final = 3.0
"""How long a world may take to come to its end once nothing goes wrong any more."""


class Failed(Broken):
    """A world broke a law. `day` is when, `law` what. `happened` is what had come about by then: name and day."""

    def __init__(self, seed: str, day: float, law: str, happened: dict[str, float]) -> None:
        super().__init__(seed, day, law, happened)
        self.seed = seed
        self.day = day
        self.law = law
        self.happened = happened

    def __str__(self) -> str:
        return f"seed {self.seed}, day {self.day:.4f}: {self.law}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a world: how long it was, how each task ended, and how much there was of what."""

    seed: str
    climate: str
    days: float
    tasks: dict[str, str]
    counts: Counter[str]


def live(
    seed: str,
    days: float | None = None,
    only: frozenset[str] | None = None,
    climate: FaultSchedule | None = None,
    world_of: Callable[[Scenario], World] = drawn_world,
) -> Outcome:
    """Let a world live for some days, then let it come to its end, and hold it against every law.

    Args:
        seed: All that happens follows from it.
        days: How long; as long as its climate says if not given.
        only: The names of what may happen beyond the ordinary; all that the seed has in store if not given.
        climate: What life is like; drawn by the seed if not given.
        world_of: What there is at first; drawn by the seed if not given.

    Raises:
        Failed: a law was broken.

    """
    fate = Scenario(seed, only)
    climate = climate or drawn_climate(fate)
    with local_zone(ZONE):
        return _lived(world_of(fate), climate, climate.days if days is None else days)


def _lived(world: World, climate: FaultSchedule, days: float) -> Outcome:
    fate = world.fate
    begun = world.clock.monotonic()
    fate.now = world.clock.monotonic
    faults, user = Faults(world, climate.rates, climate.chances, climate.boxes), User(world, climate.habits)
    invariants = Invariants(world)
    try:
        with listening(world):
            _live(world, faults, user, invariants, days)
    except AssertionError as error:
        days_old = {name: max(0.0, at - begun) / DAY for name, at in fate.happened.items()}
        raise Failed(fate.seed, (world.clock.monotonic() - begun) / DAY, str(error), days_old) from error
    lasted = (world.clock.monotonic() - begun) / DAY
    ended = {user_task.name: str(world.shown(user_task).get("state")) for user_task in world.user_tasks}
    return Outcome(fate.seed, climate.name, lasted, ended, _counts(world, faults, invariants))


def _live(world: World, faults: Faults, user: User, invariants: Invariants, days: float) -> None:
    faults.begin()
    invariants.begin()
    user.begin()
    world.boot()
    _until(world, user, world.clock.monotonic() + days * DAY)
    faults.end()
    world.service.end()
    if world.daemon.loop is None:
        world.boot()
    world.change_manners(GOOD)
    user.calm_down()
    _until(world, user, world.clock.monotonic() + LAST_DAYS * DAY, to_the_end=True)
    if not user.ended():
        states = [world.shown(user_task).get("state") for user_task in world.user_tasks]
        raise Broken(f"after {LAST_DAYS} days of peace the tasks are {states}")
    let_everybody_leave(world)
    invariants.at_end()


def _until(world: World, user: User, end: float, *, to_the_end: bool = False) -> None:
    while not (to_the_end and user.ended() and not world.living) and world.go_on(until=end):
        pass


def let_everybody_leave(world: World) -> None:
    """What lingers has its time to leave, and the daemon to see it; one that is killed is up again in an hour."""
    world.daemon.news = True
    end = world.clock.monotonic() + 2 * HOUR
    while world.go_on(until=end):
        pass


def _counts(world: World, faults: Faults, invariants: Invariants) -> Counter[str]:
    """Return how much there was of what: the denominators of all that is said of a world."""
    daemon, counts = world.daemon, Counter(world.counts)
    counts += world.days.counts()
    counts["turns"] = daemon.turns
    counts["tasks shelved"] = daemon.shelved
    counts["check-ins"] = daemon.check_ins
    counts["check-ins: quiet"] = daemon.quiet
    counts["check-ins: left out, all quiet"] = daemon.left_out
    counts["runs"] = sum(host.starts.total() for host in world.hosts)
    counts["runs on boxes"] = sum(box.host.starts.total() for box in world.boxes.values())
    counts["changes"] = faults.steps
    counts["requests that a usage limit refused"] = world.service.refused
    counts["usage limits waited for"] = len(world.service.dead)
    counts["deaths of the daemon"] = faults.kills
    for kind, times in world.fate.kinds().items():
        counts[f"happened: {kind}"] += times
    for what, times in world.desk.did.items():
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
