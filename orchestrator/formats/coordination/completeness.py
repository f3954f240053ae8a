"""What a handoff must have for its transition, and which changes of a handoff in place are legal (C2, C3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from orchestrator.model.coordination import (
    GRAVE,
    LIFECYCLE,
    Deliverable,
    DeliverableKind,
    HandoffContext,
    HandoffSteps,
    RoleHandoff,
    Transition,
)

_PLANS: Final = frozenset({DeliverableKind.PLAN, DeliverableKind.IMPLEMENTATION_PLAN})
_DELIVERED: Final = {
    Transition.IMPLEMENT: _PLANS,
    Transition.AUDIT: frozenset({DeliverableKind.IMPLEMENTATION}),
    Transition.CLEAN_UP: frozenset({DeliverableKind.AUDIT_REPORT}),
    Transition.COMPLETE: frozenset({DeliverableKind.CLEANUP_REPORT}),
}


def lacking(handoff: RoleHandoff) -> tuple[str, ...]:
    """Return what a handoff lacks, each with what to write; empty if its receiver may accept it.

    What a command can check (tests, build, a clean tree) is not asked here: the daemon runs it.
    """
    return tuple(_lacking(handoff))


def illegal_changes(old: RoleHandoff, new: RoleHandoff) -> tuple[str, ...]:
    """Return why a handoff may not become another one in place; empty if it may.

    Its status may move along the lifecycle, and issues may be added at the end. Nothing else changes.
    """
    reasons = list[str]()
    was, now = old.head.status, new.head.status
    if was is not now and (was is None or now is None or now not in LIFECYCLE[was]):
        allowed = ", ".join(sorted(LIFECYCLE[was])) if was is not None else ""
        follows = (
            f"only {allowed} may follow" if allowed else "nothing may follow: hand on anew, under another id"
        )
        reasons.append(f"`handoff.status` went from {was} to {now}: {follows}")
    before = old.issues or ()
    extra = {each for each in old.others if each[0][0] == "issues"}
    if (new.issues or ())[: len(before)] != before or not extra <= set(new.others):
        reasons.append("`issues` lost or changed an entry: only add to their end")
    kept = replace(
        old,
        head=replace(old.head, status=now),
        issues=new.issues,
        others=tuple(each for each in old.others if each[0][0] != "issues"),
    )
    if kept != replace(new, others=tuple(each for each in new.others if each[0][0] != "issues")):
        reasons.append(
            "a field other than `handoff.status` and `issues` changed: hand on anew, under another id"
        )
    return tuple(reasons)


def follows(old: RoleHandoff, new: RoleHandoff) -> tuple[str, ...]:
    """Return why a handoff did not become another one by legal changes in place, one after the other; empty if it did.

    Two archives may have seen a handoff before and after several changes.
    """
    reasons = illegal_changes(old, new)
    for between in LIFECYCLE[old.head.status] if reasons and old.head.status is not None else ():
        step = replace(new, head=replace(new.head, status=between))
        if not illegal_changes(old, step) and not illegal_changes(step, new):
            return ()
    return reasons


def _lacking(handoff: RoleHandoff) -> Iterator[str]:
    head = handoff.head
    for key, value in (
        ("from", head.source),
        ("to", head.target),
        ("timestamp", head.timestamp),
        ("type", head.transition),
        ("status", head.status),
        ("handoffId", head.id),
    ):
        if value is None:
            yield f"`handoff.{key}` is missing"
    context = handoff.context or HandoffContext()
    if not context.task:
        yield "`context.taskId` is missing"
    if not context.scope:
        yield "`context.scope` is missing: say in a sentence what the work covers"
    if not (handoff.steps or HandoffSteps()).instructions:
        yield "`nextSteps.instructions` is empty: list what the receiver is to do"
    if head.transition is Transition.REPLAN:
        if not handoff.issues:
            yield "`issues` is empty: say why the plan does not hold"
    elif head.transition is not None:
        yield from _lacking_onward(handoff, head.transition)


def _lacking_onward(handoff: RoleHandoff, transition: Transition) -> Iterator[str]:
    deliverable = handoff.deliverable or Deliverable()
    if deliverable.kind not in _DELIVERED[transition]:
        yield f"`deliverable.type` is not {' or '.join(sorted(_DELIVERED[transition]))}, which {transition} hands on"
    for key, value in (("location", deliverable.location), ("summary", deliverable.summary)):
        if not value:
            yield f"`deliverable.{key}` is missing"
    if not (handoff.steps or HandoffSteps()).criteria:
        yield "`nextSteps.acceptanceCriteria` is empty: say how anybody can see that it is done"
    if transition is Transition.IMPLEMENT and not (handoff.context or HandoffContext()).dependencies:
        yield "`context.dependencies` is empty: name the files that the work is about"
    if transition is Transition.AUDIT and not deliverable.artifacts:
        yield "`deliverable.artifacts` is empty: name the files that were created or changed"
    if transition is Transition.CLEAN_UP and any(each.severity in GRAVE for each in handoff.issues or ()):
        yield "`issues` has one that is critical or high: an audit passes only without"
