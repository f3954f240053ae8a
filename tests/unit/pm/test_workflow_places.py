"""Where agents of a workflow may work: here, on boxes, by host kinds."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.model.task import WORKFLOW, AgentOverrides, Brief, Bring, Config, Location
from orchestrator.model.workflow import WorkflowPlan
from orchestrator.pm.plan.families.workflow import first_steps
from orchestrator.pm.plan.workflow_obstacles import obstacles
from orchestrator.pm.state.claims import WHOLE
from tests.unit.pm.workflows import doer, plan_of

BOX = Location("/srv/code", "alpha")


def brief(plan: WorkflowPlan, **config: Any) -> Brief:
    """Return what a task with this plan is about."""
    return Brief("Title", "Make it so", ("It works",), Config(family=WORKFLOW, **config), workflow=plan)


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"cwd": BOX}, "`cwd:`"),
        ({"agents": {"dev": AgentOverrides(cwd=BOX)}, "bring": Bring.BRANCH}, "`dev.cwd:`"),
        ({"agents": {"dev": AgentOverrides(host="podman:x")}}, "`dev.host:`"),
        ({"agents": {"judge": AgentOverrides(cwd=BOX)}, "bring": Bring.BRANCH}, "judge verifies"),
        ({"agents": {"a": AgentOverrides(cwd=BOX)}, "bring": Bring.NOTHING}, "bring: branch"),
        ({"agents": {"a": AgentOverrides(cwd=BOX)}, "bring": Bring.BRANCH}, ""),
        ({"agents": {"a": AgentOverrides(host="podman:x")}}, ""),
        ({"host": "slurm:short"}, ""),
    ],
)
def test_who_may_work_on_a_box_or_by_a_host_kind(config: dict[str, Any], why: str) -> None:
    """Agents of the plan may, and verifiers only by host kinds; what a box's agent commits must come here."""
    plan = plan_of(doer("a"))
    found = obstacles(plan, brief(plan, **config))
    assert (why in "; ".join(found)) if why else not found
    assert len(found) <= 1


def test_agent_on_a_box_shares_its_tree_with_nobody() -> None:
    """What agents do in one repository there is told apart by time alone: no other changes files meanwhile."""
    plan = plan_of(doer("a", files=("a/**",)), doer("b", files=("b/**",)))
    own = {"a": AgentOverrides(cwd=BOX)}
    steps = {each.id: each for each in first_steps(brief(plan, agents=own, bring=Bring.BRANCH))}
    assert (steps["do:a"].claims, steps["do:b"].claims) == ((WHOLE,), ("b",))
