"""Why a skill cannot be carried out as its task.md wants it (S4)."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from orchestrator.model.agents import REMOTE_ROLES, Role
from orchestrator.model.task import WorkspaceKind
from orchestrator.pm.plan.families.skills import is_judged
from orchestrator.pm.plan.work_location import leaves_a_tree, location_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.composite import CompositeSkill
    from orchestrator.model.task import Brief


def obstacles(skill: CompositeSkill | None, brief: Brief) -> Iterator[str]:
    """Yield why a task cannot carry out a skill, a sentence each; `skill` is None if it was not read yet."""
    if brief.config.pm:
        yield "task.md has `pm:`, but the skill says what is done next"
    if skill is not None:
        yield from _on_boxes(skill, brief)


def _on_boxes(skill: CompositeSkill, brief: Brief) -> Iterator[str]:
    """Yield why agents cannot work on the boxes that task.md names."""
    config, agents = brief.config, {phase.agent for phase in skill.phases}
    if config.cwd is not None and config.cwd.host and not REMOTE_ROLES & agents:
        yield "no phase's agent is dev or architect: take `cwd:` out of task.md, or write `AGENT.cwd:`"
    far = {name for name, own in config.agents.items() if own.cwd is not None and own.cwd.host}
    yield from (
        f"{name} works in no phase: take `{name}.cwd:` out of task.md, or name an agent of the skill there"
        for name in sorted(far - agents)
    )
    if Role.REVIEW in far and is_judged(brief):
        yield "review judges the success criteria, on this machine only: take `review.cwd:` out of task.md"
    places = {
        phase.id: place
        for phase in skill.phases
        if (place := location_of(config, phase.agent)) and place.host
    }
    for phase in skill.phases:
        if phase.id not in places or brief.config.workspace is not WorkspaceKind.WORKTREE:
            continue
        if not leaves_a_tree(config, phase.agent):
            box = places[phase.id].host
            yield f"what {phase.agent} commits on {box} is merged here: write `bring: branch` into task.md"
    for one, other in combinations([each for each in skill.phases if each.id in places], 2):
        if other in skill.at_once(one) and places[one.id] == places[other.id]:
            yield (
                f"the phases {one.id} and {other.id} work at the same time: give {one.agent} and {other.agent} "
                "different folders on the box"
            )
