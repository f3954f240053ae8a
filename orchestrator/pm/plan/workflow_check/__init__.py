"""The check of a workflow's design: all that code can judge of the WF document's checklist, and of what it leaves open.

It is pure: what lies on disk comes in as `Surroundings`. It takes time in proportion to the size of the plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.pm.plan.workflow_check import agents, promises, surroundings, texts, wiring
from orchestrator.pm.plan.workflow_check.findings import Design, DesignFinding, Rule, Surroundings, Weight

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.model.workflow import WorkflowPlan

__all__ = ["DesignFinding", "Rule", "Surroundings", "Weight", "check_design", "has_faults"]


def check_design(plan: WorkflowPlan, around: Surroundings | None = None) -> tuple[DesignFinding, ...]:
    """Return what is wrong with a design, and what is worth a thought; in the order of the plan.

    Args:
        plan: The plan.
        around: What it refers to. What is None in it is not checked.

    """
    design = Design.of(plan, around or Surroundings())
    found: list[DesignFinding] = []
    for part in (agents, wiring, promises, texts, surroundings):
        found += part.findings(design)
    return tuple(found)


def has_faults(found: Iterable[DesignFinding], but: Iterable[Rule] = ()) -> bool:
    """Return whether a design must not be run. Rules in `but` do not count."""
    passed_over = set(but)
    return any(each.weight is Weight.FAULT and each.rule not in passed_over for each in found)
