"""Worlds of roles: agents that hand on, hand back, replan, lie and crash, a late user, and a daemon that is killed."""

from __future__ import annotations

from orchestrator.model.settings import Settings
from tests.simulation.engine.fault_schedule import HALF_A_DAY
from tests.simulation.engine.notification_sink import NOTIFY
from tests.simulation.engine.role_tasks import NAMES, RoleTask
from tests.simulation.engine.run import Outcome, simulate_world
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import Behaviour
from tests.simulation.engine.world import World


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
    return simulate_world(seed, HALF_A_DAY.days, None, HALF_A_DAY, role_world)
