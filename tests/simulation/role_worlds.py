"""Worlds of roles: agents that hand on, hand back, replan, lie and crash, a late user, and a daemon that is killed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from orchestrator.model.settings import Settings
from tests.simulation.engine.fault_schedule import BUSY
from tests.simulation.engine.faults import HOUR, Chances, Rates
from tests.simulation.engine.notification_sink import NOTIFY
from tests.simulation.engine.role_tasks import NAMES, RoleTask
from tests.simulation.engine.run import Outcome, simulate_world
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import Behaviour
from tests.simulation.engine.user import Habits
from tests.simulation.engine.world import World

LASTS: Final = 0.5
"""Days with faults. After them every task is brought to its end."""

SCHEDULE: Final = replace(
    BUSY,
    days=LASTS,
    rates=Rates(kill=24, power=4, tmux=1, full=1, git=1, clock=0, suspend=1, eio=0),
    chances=Chances(launch=0.05, torn=0.7, steps=80),
    habits=Habits(latest=HOUR, restless=0.1, keen=0.8),
)


def role_world(scenario: Scenario) -> World:
    """Return the world of a seed: one task of roles, or two that share the daemon."""
    random = scenario.random("roles.world")
    tasks = tuple(
        RoleTask(
            name,
            checks=random.random() < 0.4,
            workspace=random.choice(("worktree", "worktree", "worktree", "shared")),
            approve=random.random() < 0.2,
            unanswered=random.choice(("", "", "retry after 4 h")),
        )
        for name in NAMES[: random.choice((1, 1, 2))]
    )
    behaviour = Behaviour(
        bad=random.choice((0.0, 0.1, 0.3)),
        rejects=random.choice((0.0, 0.2, 0.5)),
        odd=random.choice((0.0, 0.3, 0.8)),
        leftovers=random.choice((0.0, 0.05)),
        longest=random.choice((2.0, 20.0, 90.0)),
    )
    return World(scenario, tasks, behaviour, Settings(notify=NOTIFY), deaf=random.choice((0.0, 0.1, 0.5)))


def simulate_roles(seed: str) -> Outcome:
    """Run the world of a seed. Raises Failed."""
    return simulate_world(seed, LASTS, None, SCHEDULE, role_world)
