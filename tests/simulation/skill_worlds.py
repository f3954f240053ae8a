"""Worlds of composite skills: agents that lie, edit and crash, a late user, and a daemon that is killed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from orchestrator.model.composite import context_file
from orchestrator.model.settings import Settings
from tests.simulation.engine.fault_schedule import HALF_A_DAY
from tests.simulation.engine.notification_sink import NOTIFY
from tests.simulation.engine.run import Outcome, simulate_world
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import Behaviour
from tests.simulation.engine.skill_commands import SkillCommands
from tests.simulation.engine.skill_tasks import SkillTask, drawn_skill
from tests.simulation.engine.world import World

NAMES = ("kappa", "lambda")


def skill_world(scenario: Scenario, *, rough: bool = False, back: bool = False) -> World:
    """Return the world of a seed: one session of a skill, or two that share the daemon.

    rough: most agents lie. back: commands take the sessions back, and end them.
    """
    random = scenario.random("skills.world")
    tasks = tuple(
        SkillTask(
            name,
            workspace=random.choice(("worktree", "worktree", "shared")),
            unanswered=random.choice(("", "", "retry after 4 h")),
            skill=drawn_skill(random),
            judged=random.random() < 0.2,
        )
        for name in NAMES[: random.choice((1, 1, 2))]
    )
    behaviour = Behaviour(
        bad=random.choice((0.0, 0.2, 0.4)),
        rejects=random.choice((0.0, 0.2)),
        odd=random.choice((0.0, 0.4, 0.8)),
        leftovers=random.choice((0.0, 0.05)),
        longest=random.choice((2.0, 20.0, 90.0)),
    )
    behaviour = replace(behaviour, bad=0.4, odd=0.8) if rough else behaviour
    world = World(scenario, tasks, behaviour, Settings(notify=NOTIFY), deaf=random.choice((0.0, 0.1, 0.5)))
    for task in tasks:
        if back:
            SkillCommands(world, task)
        world.shared.knows(context_file(task.session.task_id or ""), task.context)
    return world


def simulate_skills(seed: str, *, rough: bool = False, back: bool = False) -> Outcome:
    """Run the world of a seed. Raises Failed."""
    return simulate_world(
        seed, HALF_A_DAY.days, None, HALF_A_DAY, partial(skill_world, rough=rough, back=back)
    )
