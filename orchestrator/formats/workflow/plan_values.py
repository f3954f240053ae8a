"""A plan as plain values, as its block of YAML spells them. Nothing here reads or writes YAML."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from orchestrator.model.workflow import (
    Bounds,
    EvidenceWanted,
    Input,
    PlanApproval,
    WorkflowAgent,
    WorkflowPlan,
)

SCHEMA: Final = 1


class Workspace(StrEnum):
    """How a plan spells where an agent works."""

    WORKTREE = "worktree"  # a tree of its own; what passes is merged
    SCRATCH = "scratch"  # a tree of its own that is never merged
    READ_ONLY = "read_only"  # a look at what it judges or advises on
    SHARED = "shared"  # the user's own tree


def plan_values(plan: WorkflowPlan) -> dict[str, Any]:
    """Return a plan as plain values with every field, as the block of YAML spells it."""
    return {
        "schema": SCHEMA,
        "workflow": plan.workflow,
        "summary": plan.summary,
        "max_parallel": plan.max_parallel,
        "bounds": bound_values(plan.bounds),
        "groups": {name: {"at_once": at_once} for name, at_once in plan.groups},
        "agents": [agent_values(agent) for agent in plan.agents],
        "checkpoints": [
            {
                "id": each.id,
                "verifier": each.verifier,
                "subjects": list(each.subjects),
                "criteria": list(each.criteria),
            }
            for each in plan.checkpoints
        ],
        "escalation": {
            "resolver": plan.escalation.resolver or None,
            "architect": plan.escalation.architect or None,
            "loop": plan.escalation.loop or None,
            "user_points": list(plan.escalation.user_points),
        },
        "criteria": [{"text": each.text, "by": list(each.by)} for each in plan.criteria],
        "approval": approval_values(plan.approval),
    }


def agent_values(agent: WorkflowAgent) -> dict[str, Any]:
    """Return an agent as plain values with every field."""
    workspace = Workspace.SCRATCH if agent.scratch else Workspace(agent.workspace.value)
    return {
        "id": agent.id,
        "task_id": agent.task_id,
        "kind": agent.kind.value,
        "title": agent.title,
        "persona": agent.persona,
        "runtime": agent.runtime,
        "instructions": agent.instructions,
        "needs": list(agent.needs),
        "group": agent.group or None,
        "verifier": agent.verifier or None,
        "inputs": [input_values(each) for each in agent.inputs],
        "outputs": list(agent.outputs),
        "evidence": [evidence_values(each) for each in agent.evidence],
        "files": list(agent.files),
        "workspace": workspace.value,
        "bounds": dict(agent.own_bounds),
        "poc": None
        if agent.poc is None
        else {
            "assumption": agent.poc.assumption,
            "pass": list(agent.poc.passes),
            "fail": list(agent.poc.fails),
            "protects": list(agent.poc.protects),
        },
    }


def input_values(wanted: Input) -> dict[str, Any]:
    """Return an input as plain values; without a `path`, all outputs are meant."""
    return {"from": wanted.source, "path": wanted.path} if wanted.path else {"from": wanted.source}


def evidence_values(wanted: EvidenceWanted) -> dict[str, Any]:
    """Return wanted evidence as plain values."""
    return {"id": wanted.id, "text": wanted.text, "path": wanted.path}


def bound_values(bounds: Bounds) -> dict[str, int]:
    """Return bounds as plain values; a `run_time` that is not set is left out."""
    names = Bounds.__slots__
    return {name: getattr(bounds, name) for name in names if getattr(bounds, name) is not None}


def approval_values(approval: PlanApproval | None) -> dict[str, Any] | None:
    """Return an approval as plain values."""
    return None if approval is None else {"hash": approval.hash, "by": approval.by, "at": approval.at}
