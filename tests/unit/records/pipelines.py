"""Handoffs of a pipeline that takes as long as the document's example."""

from __future__ import annotations

from orchestrator.model.coordination import (
    ROUTES,
    Deliverable,
    DeliverableKind,
    HandoffContext,
    HandoffHead,
    HandoffStatus,
    Issue,
    IssueSeverity,
    RoleHandoff,
    Transition,
    iso,
    moment,
)

BEGAN = moment("2025-12-11T14:00:00Z") or 0.0
LEAK = Issue(IssueSeverity.LOW, "A file is left", "Remove it")


def handed_on(
    number: int, transition: Transition, minutes: float, *issues: Issue, task: str = "task_1"
) -> RoleHandoff:
    at = BEGAN + 60 * minutes
    return RoleHandoff(
        HandoffHead(
            min(ROUTES[transition][0]),
            ROUTES[transition][1],
            iso(at),
            transition,
            HandoffStatus.PENDING,
            f"handoff_{int(at * 1000)}_{number:08}",
        ),
        HandoffContext(task=task),
        Deliverable(DeliverableKind.IMPLEMENTATION, artifacts=("a.py", f"{number}.py")),
        issues=issues,
    )


PIPELINE = (
    handed_on(1, Transition.IMPLEMENT, 90),
    handed_on(2, Transition.AUDIT, 120, LEAK),
    handed_on(3, Transition.CLEAN_UP, 135, LEAK),
    handed_on(4, Transition.COMPLETE, 150),
)
