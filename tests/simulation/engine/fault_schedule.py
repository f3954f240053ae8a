"""How the life in a world is: what goes wrong how often, how its user and its agents are, how long it lasts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypedDict

from orchestrator.testing.fake_clock import START
from tests.simulation.engine.box_faults import BoxRates
from tests.simulation.engine.faults import DAY, HOUR, Chances, Rates
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import Manners
from tests.simulation.engine.user import Habits
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World

ZONE: Final = "CET-1CEST,M3.5.0,M10.5.0/3"
"""Central Europe by its rules: no table of zones is needed to know it."""

BOXED: Final = 0.15
"""The share of drawn tasks that have agents on boxes."""

BEGINNINGS: Final = (
    START,
    1_761_400_000.0,  # 25 October 2025: in the night that follows, an hour comes twice
    1_743_250_000.0,  # 29 March 2025: in the night that follows, one is left out
    1_767_200_000.0,  # 31 December 2025
)


@dataclass(frozen=True, slots=True)
class FaultSchedule:
    """A kind of life. `days` is how long it is watched, `share` how often it is drawn."""

    name: str
    days: float
    share: float
    rates: Rates
    chances: Chances
    habits: Habits
    boxes: BoxRates = field(default_factory=BoxRates)


BUSY: Final = FaultSchedule("busy", 2.5, 0.5, Rates(), Chances(), Habits())
AWAY: Final = FaultSchedule(
    "away",
    150.0,
    0.5,
    Rates(*[rate / 15 for rate in (3.0, 0.3, 0.3, 0.5, 0.3, 0.5, 0.2, 3.0, 0.3, 0.2, 1.0, 0.5)]),
    Chances(),
    Habits(HOUR, 40 * DAY, restless=0.1, eager=0.3, forgetful=0.2),
    BoxRates(*[rate / 15 for rate in (3.0, 0.5, 0.3, 0.3, 0.1, 0.3)]),
)
CLIMATES: Final = (BUSY, AWAY)


class Boxed(TypedDict, total=False):
    """On which boxes agents of a user_task work."""

    box: str
    architects_box: str
    brings: bool


def drawn_boxes(fate: Scenario, name: str) -> Boxed:
    """Return on which boxes a task's agents work: on none, most often."""
    random = fate.random(f"boxes.{name}")
    if random.random() >= BOXED or not fate.lets(f"boxes.{name}"):
        return {}
    return {
        "box": random.choice(("near", "near", "far")),
        "architects_box": random.choice(("", "near", "far")),
        "brings": random.random() < 0.7,
    }


def drawn_climate(fate: Scenario) -> FaultSchedule:
    """Return the kind of life that a seed leads to."""
    return fate.random("climate").choices(CLIMATES, [each.share for each in CLIMATES])[0]


def drawn_world(fate: Scenario) -> World:
    """Return the world of a seed, in which nothing has happened yet."""
    random = fate.random("world")
    user_tasks = [
        UserTask(
            name,
            architect=random.random() < 0.2,
            set_aside=random.random() < 0.3,
            checks=random.random() < 0.4,
            workspace=random.choice(("worktree", "worktree", "worktree", "shared", "read_only")),
            listens=random.random() < 0.5,
            approve=random.random() < 0.2,
            unanswered=random.choice(("", "", "retry after 4 h", "set-aside after 2 d")),
            replan=random.random() < 0.2,
            led=fate.random(f"led.{name}").random() < 0.25,
            tells=fate.random(f"tells.{name}").random() < 0.3,
            **drawn_boxes(fate, name),
        )
        for name in ("alpha", "beta", "gamma")[: random.randint(1, 3)]
    ]
    manners = Manners(
        bad=random.choice((0.0, 0.1, 0.3, 0.5)),
        rejects=random.choice((0.0, 0.1, 0.3)),
        odd=random.choice((0.0, 0.3, 0.8)),
        leaves=fate.random("leaves").choice((0.0, 0.1, 0.4)),
        longest=random.choice((5.0, 60.0, 180.0)),
        subtasks=random.randint(0, 4),
        stubborn=random.choice((0.0, 0.0, 0.1)),
    )
    deaf = random.choice((0.0, 0.1, 0.5, 1.0))
    slow = random.choice((True, True, False))
    begins = random.choice(BEGINNINGS)
    kept = tuple(user_task for user_task in user_tasks if fate.lets(f"task.{user_task.name}"))
    return World(fate, kept, manners, deaf=deaf, slow=slow, begins=begins)
