"""Checks who answers escalated notes, and whether risks were looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.workflow import AgentKind
from orchestrator.pm.plan.workflow_check.findings import Design, DesignFinding, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.workflow import WorkflowPlan

SIMPLE_DOERS: Final = 3
SIMPLE_CHAIN: Final = 3


def findings(design: Design) -> Iterator[DesignFinding]:
    """Yield what is wrong with the ways of escalation."""
    chosen = design.plan.escalation
    roles = {"resolver": chosen.resolver, "architect": chosen.architect, "loop": chosen.loop}
    for role, name in roles.items():
        if name:
            yield from _answering(design, role, name)
    if any(roles.values()) and not design.plan.bounds.depth:
        yield DesignFinding(
            Rule.BOUNDS_DEPTH,
            "`bounds.depth` is 0, so that every question goes to the user",
            "raise it to 1 at least, or name nobody under `escalation`",
            ("bounds", "depth"),
        )
    if not chosen.user_points:
        yield DesignFinding(
            Rule.USER_POINTS,
            "the plan does not say where the user steps in",
            "name these points under `escalation.user_points`",
            ("escalation",),
        )
    pocs = any(agent.kind is AgentKind.POC for agent in design.plan.agents)
    if not pocs and not is_simple(design.plan, design.needs.longest):
        yield DesignFinding(
            Rule.RISK_UNASSESSED,
            "the workflow is not simple, and no proof of concept tries an assumption",
            "add an agent of the kind `poc` for what may fail, or be sure that nothing is unproven",
            ("agents",),
        )


def is_simple(plan: WorkflowPlan, chain: int) -> bool:
    """Return whether a workflow needs no risk assessment: few doers, short chains, no proof of concept."""
    kinds = [agent.kind for agent in plan.agents]
    return (
        kinds.count(AgentKind.DOER) <= SIMPLE_DOERS and AgentKind.POC not in kinds and chain <= SIMPLE_CHAIN
    )


def _answering(design: Design, role: str, name: str) -> Iterator[DesignFinding]:
    path = ("escalation", role)
    agent = design.agents.get(name)
    if agent is None:
        yield DesignFinding(
            Rule.ESCALATION_UNKNOWN,
            f"the {role} is {name}, which the plan does not have",
            f"{design.near(name).rstrip('?')}, or write null: then the user answers",
            path,
        )
    elif agent.kind is not AgentKind.ARCHITECT:
        yield DesignFinding(
            Rule.ESCALATION_KIND,
            f"the {role} is {name}, which is of the kind {agent.kind}",
            "name an agent of the kind `architect`",
            path,
        )
    elif agent.needs:
        yield DesignFinding(
            Rule.ESCALATION_NEEDS,
            f"the {role} {name} has needs, so that it could not answer before they are verified",
            "remove its `needs`",
            path,
        )
