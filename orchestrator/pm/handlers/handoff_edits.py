"""What the receiver of a handoff says by an edit of its archived file (C3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.coordination import HandoffStatus, Issue
from orchestrator.pm.plan.acknowledgements import let_go
from orchestrator.pm.plan.advance import close_order
from orchestrator.pm.plan.handing_on import added_to, moved, receiver_of
from orchestrator.pm.policies.inactivity import progressed
from orchestrator.pm.policies.reopen import feed
from orchestrator.pm.policies.role_handoffs import reasons_of, refuse
from orchestrator.pm.state.run_changes import RunReported

if TYPE_CHECKING:
    from orchestrator.model.facts import RoleHandoffEdited
    from orchestrator.pm.state.draft import Draft

_NAMED: Final = 10


def role_handoff_edited(draft: Draft, fact: RoleHandoffEdited) -> None:
    """Take what the receiver of a handoff says of it; its source reads the issues in its next order.

    A rejection is the receiver's report: its order is closed, and the work goes where a handoff that rejects would
    lead it. An edit by a run that does not have the handoff in hand changes nothing.
    """
    record, run = draft.state.handoffs.get(fact.handoff), draft.state.runs.get(fact.run)
    receiver = receiver_of(draft.state, fact.handoff)
    if record is None or run is None or receiver is None or receiver.run.id != run.id:
        return
    progressed(draft, run, fact.at)
    issues = fact.issues
    if fact.status is HandoffStatus.REJECTED:
        close_order(draft, run)
        draft.change(RunReported(run.id, fact.at))
        let_go(draft, draft.state.runs[run.id])
        refuse(draft, run.step, reasons_of(issues[:_NAMED]) or "it gives no reason", issues)
        return
    if issues:
        draft.change(added_to(record, issues))
        _tell(draft, record.step, run.agent, fact.handoff, issues)
    if fact.status is not None:
        draft.change(*moved(draft.state.handoffs[fact.handoff], fact.status))


def _tell(draft: Draft, source: str, agent: str, handoff: str, issues: tuple[Issue, ...]) -> None:
    """Tell the source of a handoff, in its next order, and the user what its receiver found."""
    said = f"{agent} says of {handoff}: {reasons_of(issues[:_NAMED])}"
    if source in draft.state.steps:
        feed(draft, source, said)
    draft.notice(said)
