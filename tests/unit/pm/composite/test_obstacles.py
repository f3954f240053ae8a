"""Where agents of phases may work: here, by host kinds, on boxes."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.model.composite import CompositeSkill, SkillPhase
from orchestrator.model.task import SKILLS, AgentOverrides, Brief, Bring, Config, Location, WorkspaceKind
from orchestrator.pm.plan.composite.obstacles import obstacles
from orchestrator.pm.plan.families.skills import MEMORIES_COMPLETE

BOX, OTHER = Location("/srv/code", "alpha"), Location("/srv/other", "alpha")
SKILL = CompositeSkill(
    "make",
    (
        SkillPhase("a", "a"),
        SkillPhase("b", "b", alongside=True),
        SkillPhase("c", "c"),
        SkillPhase("r", "review"),
    ),
)


def at(**places: Location) -> dict[str, Any]:
    return {
        "agents": {name: AgentOverrides(cwd=place) for name, place in places.items()},
        "bring": Bring.BRANCH,
    }


@pytest.mark.parametrize(
    ("config", "criteria", "why"),
    [
        (at(a=BOX), (), ""),
        (at(a=BOX, c=BOX), (), ""),
        (at(a=BOX, b=OTHER), (), ""),
        (at(review=BOX), (), ""),
        ({"host": "podman:x"}, (), ""),
        (at(a=BOX) | {"bring": Bring.NOTHING}, (), "bring: branch"),
        (at(a=BOX) | {"bring": Bring.NOTHING, "workspace": WorkspaceKind.SHARED}, (), ""),
        (at(a=BOX, b=BOX), (), "a and b work at the same time"),
        (at(dev=BOX), (), "`dev.cwd:`"),
        ({"cwd": BOX, "bring": Bring.BRANCH}, (), "`cwd:`"),
        (at(review=BOX), ("It is fast.",), "`review.cwd:`"),
        ({"pm": "pm"}, (), "`pm:`"),
    ],
)
def test_where_phases_may_work(config: dict[str, Any], criteria: tuple[str, ...], why: str) -> None:
    """What an agent commits on a box must come here, and two that work at once must not share a repository there."""
    brief = Brief("Title", "Make it", (MEMORIES_COMPLETE, *criteria), Config(family=SKILLS, **config))
    found = list(obstacles(SKILL, brief))
    assert len(found) == bool(why)
    assert why in "".join(found)


def test_developers_of_a_skill_work_on_the_box_of_the_task() -> None:
    skill = CompositeSkill("make", (SkillPhase("work", "dev"), SkillPhase("check", "test")))
    config = Config(family=SKILLS, cwd=BOX, bring=Bring.BRANCH)
    assert not list(obstacles(skill, Brief("T", "G", (MEMORIES_COMPLETE,), config)))
