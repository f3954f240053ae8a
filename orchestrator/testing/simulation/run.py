"""One world by its seed, from the first wish to the last word."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from orchestrator.model.settings import Settings
from orchestrator.testing.simulation.agents import Manners
from orchestrator.testing.simulation.faults import Faults, Rates
from orchestrator.testing.simulation.invariants import Broken, Invariants
from orchestrator.testing.simulation.user import User
from orchestrator.testing.simulation.world import Wish, World, listening

HOUR: Final = 3600.0
DAY: Final = 86400.0
LAST_DAYS: Final = 3.0
"""How long a world may take to come to its end once nothing goes wrong any more."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a world: how long it was, how often its daemon was killed, and how each task ended."""

    seed: str
    days: float
    turns: int
    kills: int
    runs: int
    tasks: dict[str, str]


def drawn_world(seed: str) -> World:
    """Return the world of a seed, in which nothing has happened yet."""
    random = Random(f"{seed}/world")  # noqa: S311 (a simulation)
    wishes = tuple(
        Wish(
            name,
            architect=random.random() < 0.2,  # noqa: PLR2004 (chances, here and below)
            set_aside=random.random() < 0.3,  # noqa: PLR2004
            checks=random.random() < 0.4,  # noqa: PLR2004
            workspace=random.choice(("worktree", "worktree", "worktree", "shared", "read_only")),
        )
        for name in ("alpha", "beta", "gamma")[: random.randint(1, 3)]
    )
    manners = Manners(
        bad=random.choice((0.0, 0.1, 0.3, 0.5)),
        rejects=random.choice((0.0, 0.1, 0.3)),
        odd=random.choice((0.0, 0.3, 0.8)),
        longest=random.choice((5.0, 60.0, 180.0)),
        subtasks=random.randint(0, 4),
    )
    deaf = random.choice((0.0, 0.1, 0.5, 1.0))
    return World(seed, wishes, manners, Settings(), deaf, slow=random.choice((True, True, False)))


def live(seed: str, days: float, rates: Rates | None = None) -> Outcome:
    """Let a world live for some days, then let it come to its end, and hold it against every law.

    Raises:
        AssertionError: a law was broken; the message begins with the seed and the time in the world.

    """
    world = drawn_world(seed)
    faults = Faults(world, rates or Rates())
    user, invariants = User(world), Invariants(world)
    try:
        with listening(world):
            _live(world, faults, user, invariants, days)
    except AssertionError as error:
        past = (world.clock.monotonic() - 1000.0) / DAY
        raise Broken(f"seed {seed}, day {past:.4f}: {error}") from error
    return Outcome(
        seed,
        (world.clock.monotonic() - 1000.0) / DAY,
        world.daemon.turns,
        faults.kills,
        len(world.host.starts),
        {wish.name: str(world.shown(wish).get("state")) for wish in world.wishes},
    )


def _live(world: World, faults: Faults, user: User, invariants: Invariants, days: float) -> None:
    faults.begin()
    invariants.begin()
    user.begin()
    world.boot()
    _until(world, user, world.clock.monotonic() + days * DAY)
    faults.end()
    if world.daemon.loop is None:
        world.boot()
    user.calm = True
    world.manners = world.desk.manners = Manners(bad=0, rejects=0, odd=0, longest=1, subtasks=1)
    _until(world, user, world.clock.monotonic() + LAST_DAYS * DAY, to_the_end=True)
    if not user.ended():
        raise Broken(
            f"after {LAST_DAYS} days of peace the tasks are {[world.shown(wish).get('state') for wish in world.wishes]}"
        )
    let_everybody_leave(world)
    invariants.at_end()


def _until(world: World, user: User, end: float, *, to_the_end: bool = False) -> None:
    while not (to_the_end and user.ended() and not world.host.living) and world.go_on(until=end):
        pass


def let_everybody_leave(world: World) -> None:
    """What lingers has its time to leave, and the daemon to see it; one that is killed is up again in an hour."""
    world.daemon.news = True
    end = world.clock.monotonic() + 2 * HOUR
    while world.go_on(until=end):
        pass
