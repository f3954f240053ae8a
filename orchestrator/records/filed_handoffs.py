"""What the archive remembers of each handoff, and the index that is made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from orchestrator.model.coordination import (
    ArchiveIndex,
    HandoffChain,
    HandoffContext,
    RoleHandoff,
    Transition,
    iso,
    moment,
)
from orchestrator.model.errors import Refused


@dataclass(frozen=True, slots=True)
class FiledHandoff:
    """What the archive remembers of a handoff: its date, its task, what it means, and when it was made."""

    date: str
    task: str
    transition: Transition
    at: float


def filed(handoff: RoleHandoff) -> FiledHandoff:
    """Return what the archive remembers of a handoff. Raises Refused if it cannot be filed."""
    head, context = handoff.head, handoff.context or HandoffContext()
    at = moment(head.timestamp or "")
    missing = [
        name
        for name, value in (
            ("handoff.handoffId", head.id),
            ("handoff.timestamp", at),
            ("handoff.type", head.transition),
            ("handoff.from", head.source),
            ("handoff.to", head.target),
            ("context.taskId", context.task),
        )
        if value is None
    ]
    if missing or at is None or head.transition is None or context.task is None:
        raise Refused(f"has no {', '.join(missing)}: a handoff is filed by these")
    return FiledHandoff(iso(at)[:10], context.task, head.transition, at)


def index_of(handoffs: Collection[FiledHandoff], chains: Collection[HandoffChain]) -> ArchiveIndex:
    """Return the index of an archive that has at least one handoff."""
    dates = Counter(each.date for each in handoffs)
    types = Counter(each.transition for each in handoffs)
    ends = [moment(chain.completed or "") or 0.0 for chain in chains]
    return ArchiveIndex(
        updated=iso(max((*(each.at for each in handoffs), *ends))),
        handoffs=len(handoffs),
        chains=len(chains),
        by_date=tuple(sorted(dates.items(), reverse=True)),
        by_type=tuple((each, types[each]) for each in Transition),
    )
