"""A chain: the handoffs of one task in order, with durations and figures (C6). Pure.

The duration of a handoff is the time that its source took: since the handoff before it, and since the task began for
the first. All are rounded from the beginning on, so that they add up to the duration of the chain.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.model.coordination import (
    CHAIN,
    ChainLink,
    ChainMetrics,
    ChainOutcome,
    Deliverable,
    DeliverableKind,
    HandoffChain,
    HandoffHead,
    HandoffStatus,
    PipelineRole,
    RoleHandoff,
    Transition,
    iso,
    moment,
)


def order(handoff: RoleHandoff) -> tuple[float, str]:
    """Return by what handoffs are put in order: their moments, then their ids."""
    return moment(handoff.head.timestamp or "") or 0.0, handoff.head.id or ""


def chain_of(
    task: str,
    handoffs: Sequence[RoleHandoff],
    before: Sequence[HandoffChain],
    started: float | None,
    coverage: float | None,
) -> HandoffChain:
    """Return the chain of a task.

    Args:
        task: Its id.
        handoffs: Its handoffs, at least one.
        before: The chain as it was written before, here and in an archive that is merged: when it began, what was
            measured, and that it was given up is known from there.
        started: When the task began; None if that is not known.
        coverage: The test coverage, as something measured it; None if nothing did.

    """
    ordered = sorted(handoffs, key=order)
    times = [order(each)[0] for each in ordered]
    known = [times[0], *(moment(each.created) or times[0] for each in before)]
    created = min(known if started is None else (*known, started))
    given_up = max((_given_up(each) for each in before), default=0.0)
    outcome, completed = ChainOutcome.OPEN, None
    last = ordered[-1].head
    left = given_up >= times[-1]
    fit = {HandoffStatus.COMPLETED} if left else set(HandoffStatus) - {HandoffStatus.REJECTED} | {None}
    if last.transition is Transition.COMPLETE and last.status in fit:
        outcome, completed = ChainOutcome.SUCCESS, times[-1]
    elif left:
        outcome, completed = ChainOutcome.FAILURE, given_up
    marks = [round((at - created) / 60) for at in times]
    measured = [each.metrics.coverage for each in before if each.metrics.coverage is not None]
    return HandoffChain(
        id=f"{CHAIN}{task}",
        task=task,
        created=iso(created),
        completed=None if completed is None else iso(completed),
        minutes=round(((completed or times[-1]) - created) / 60),
        links=tuple(
            _link(each.head, mark - last)
            for each, mark, last in zip(ordered, marks, [0, *marks], strict=False)
        ),
        outcome=outcome,
        metrics=_metrics(ordered, coverage if coverage is not None else max(measured, default=None)),
        others=min((each.others for each in before if each.others), key=repr, default=()),
        given_up=iso(given_up) if given_up else None,
    )


def _given_up(chain: HandoffChain) -> float:
    """Return when the task of a chain was given up; 0 if it was not."""
    ended = chain.completed if chain.outcome is ChainOutcome.FAILURE else None
    return max(moment(each or "") or 0.0 for each in (ended, chain.given_up))


def _link(head: HandoffHead, minutes: int) -> ChainLink:
    return ChainLink(
        head.id or "", head.source or PipelineRole.PLANNER, head.target or PipelineRole.PLANNER, minutes
    )


def _metrics(ordered: Sequence[RoleHandoff], coverage: float | None) -> ChainMetrics:
    """Return the figures of a chain. An issue is resolved if the last handoff does not have it any more."""
    files, found = set[str](), set[tuple[str, str]]()
    for each in ordered:
        deliverable = each.deliverable or Deliverable()
        if deliverable.kind is DeliverableKind.IMPLEMENTATION:
            files.update(deliverable.artifacts or ())
        found.update((issue.severity, issue.description) for issue in each.issues or ())
    left = {(issue.severity, issue.description) for issue in ordered[-1].issues or ()}
    return ChainMetrics(len(files), coverage, len(found), len(found - left))
