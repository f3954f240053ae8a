"""Fault schedules: how often each fault occurs, how user and agents behave, and how long a world lasts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, TypedDict

from orchestrator.testing.fake_clock import START
from tests.simulation.engine.box_faults import BoxRates
from tests.simulation.engine.faults import DAY, HOUR, Chances, Rates
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import Behaviour
from tests.simulation.engine.user import Habits
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World

ZONE: Final = "CET-1CEST,M3.5.0,M10.5.0/3"
"""Central Europe by its rules: no table of zones is needed to know it."""

BOXED: Final = 0.15
"""The share of drawn tasks that have agents on boxes."""

SCHEDULE: Final = "climate"
"""The event by which the schedule of a world is drawn. Its name is a part of what each seed means."""

BEGINNINGS: Final = (
    START,
    1_761_400_000.0,  # 25 October 2025: in the night that follows, an hour comes twice
    1_743_250_000.0,  # 29 March 2025: in the night that follows, one is left out
    1_767_200_000.0,  # 31 December 2025
)


@dataclass(frozen=True, slots=True)
class FaultSchedule:
    """What a world is like. `days` is how long it runs, `share` how often it is drawn."""

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
SCHEDULES: Final = (BUSY, AWAY)

HALF_A_DAY: Final = replace(
    BUSY,
    days=0.5,
    rates=Rates(kill=24, power=4, tmux=1, full=1, git=1, clock=0, suspend=1, eio=0),
    chances=Chances(launch=0.05, torn=0.7, steps=80),
    habits=Habits(latest=HOUR, restless=0.1, keen=0.8),
)
"""For worlds of one plan family: a dozen kills in half a day. After that every task is brought to its end."""


class Boxed(TypedDict, total=False):
    """The boxes on which the agents of a task run."""

    box: str
    architects_box: str
    brings: bool


def drawn_boxes(scenario: Scenario, name: str) -> Boxed:
    """Return the boxes on which a task's agents run: on none, as a rule."""
    random = scenario.random(f"boxes.{name}")
    if random.random() >= BOXED or not scenario.allows(f"boxes.{name}"):
        return {}
    return {
        "box": random.choice(("near", "near", "far")),
        "architects_box": random.choice(("", "near", "far")),
        "brings": random.random() < 0.7,
    }


def drawn_schedule(scenario: Scenario) -> FaultSchedule:
    """Return the fault schedule of a seed."""
    return scenario.random(SCHEDULE).choices(SCHEDULES, [each.share for each in SCHEDULES])[0]


def drawn_world(scenario: Scenario) -> World:
    """Return the world of a seed at its beginning."""
    random = scenario.random("world")
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
            led=scenario.random(f"led.{name}").random() < 0.25,
            hooks=scenario.random(f"tells.{name}").random() < 0.3,
            **drawn_boxes(scenario, name),
        )
        for name in ("alpha", "beta", "gamma")[: random.randint(1, 3)]
    ]
    behaviour = Behaviour(
        bad=random.choice((0.0, 0.1, 0.3, 0.5)),
        rejects=random.choice((0.0, 0.1, 0.3)),
        odd=random.choice((0.0, 0.3, 0.8)),
        leftovers=scenario.random("leaves").choice((0.0, 0.1, 0.4)),
        longest=random.choice((5.0, 60.0, 180.0)),
        subtasks=random.randint(0, 4),
        stubborn=random.choice((0.0, 0.0, 0.1)),
    )
    deaf = random.choice((0.0, 0.1, 0.5, 1.0))
    slow = random.choice((True, True, False))
    begins = random.choice(BEGINNINGS)
    kept = tuple(user_task for user_task in user_tasks if scenario.allows(f"task.{user_task.name}"))
    return World(scenario, kept, behaviour, deaf=deaf, slow=slow, begins=begins)
