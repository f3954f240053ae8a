"""Against whose tasks an answer is checked before it is written, and which earlier questions were like it (WF)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.escalation import EscalationCase, Via
from orchestrator.pm.plan.families.workflow import workers
from orchestrator.pm.plan.similar_questions import similar
from orchestrator.pm.state.claims import above, claims_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.escalation import CaseNote
    from orchestrator.model.workflow import WorkflowAgent, WorkflowPlan
    from orchestrator.pm.state.task_state import PMState

NAMED: Final = 20


def to_check(plan: WorkflowPlan, agent: str) -> tuple[str, ...]:
    """Return the agents whose task an answer to this one may touch, in the order of the plan.

    They depend on it, it depends on them, they read the same outputs, or they change the same files.
    """
    agents = {each.id: each for each in plan.agents}
    own = agents.get(agent)
    if own is None:
        return ()
    if own not in tuple(workers(plan)):  # a verifier: whom it judges
        return tuple(each.id for each in workers(plan) if each.verifier == agent)
    return tuple(each.id for each in workers(plan) if each.id != agent and _touches(own, each))


def _touches(one: WorkflowAgent, other: WorkflowAgent) -> bool:
    if one.id in other.needs or other.id in one.needs:
        return True
    if {each.source for each in one.inputs} & {each.source for each in other.inputs}:
        return True
    mine, theirs = set(claims_of(one.files)), set(claims_of(other.files))
    return bool(mine & theirs) or any(
        set(above(claim)) & wide for some, wide in ((mine, theirs), (theirs, mine)) for claim in some
    )


def similar_before(state: PMState, case: EscalationCase) -> Iterator[tuple[EscalationCase, CaseNote]]:
    """Yield the answered notes that asked for something like what this case asks, of any agent, oldest first."""
    for other in state.cases.values():
        if other.number >= case.number:
            continue
        for note in other.notes:
            answered = note.via is Via.NOBODY and note.answer
            if answered and any(similar(note.question, each.question) for each in case.notes):
                yield other, note
