"""Handoffs from role to role: which is accepted, which goes back, and to whom (C2, C3).

::

    report ─▶ completed by what the PM knows ─▶ complete for its transition?
                                                  │ no: rejected, with the reasons; written again, bounded
        onward ──────────────▶ the other gates, then the next role
        requires_replanning ─▶ the step that plans, within `limits.max_replans`; then a question
        rejected ────────────▶ whoever handed on: audited work, or the plan

Who hands on to whom, when, in which task and under which status is the PM's to say; of these fields a handoff only has
to say nothing else. What was made, what is next and what is wrong only its author knows: that is asked for again.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from orchestrator.formats.coordination.completeness import lacking
from orchestrator.formats.coordination.markdown import handoff_within
from orchestrator.model.coordination import (
    ROUTES,
    Deliverable,
    DeliverableKind,
    HandoffContext,
    HandoffHead,
    HandoffRecord,
    HandoffStatus,
    Issue,
    IssueSeverity,
    PipelineRole,
    RoleHandoff,
    Transition,
    iso,
)
from orchestrator.model.errors import BadFile
from orchestrator.model.handoff import ReportStatus, Verdict
from orchestrator.model.plan import Gate
from orchestrator.pm.plan.handing_on import handed_on_by, moved, reason_of, received_by
from orchestrator.pm.policies.rejections import reject, rest_of
from orchestrator.pm.policies.reopen import first_line, may_replan, replan
from orchestrator.pm.policies.retries import ask_again, block, with_replan
from orchestrator.pm.state.handoff_changes import HandoffRecorded

if TYPE_CHECKING:
    from orchestrator.model.handoff import Report
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

NAMED: Final = 10

_ONWARD: Final = {
    PipelineRole.PLANNER: (Transition.IMPLEMENT, DeliverableKind.IMPLEMENTATION_PLAN),
    PipelineRole.IMPLEMENTER: (Transition.AUDIT, DeliverableKind.IMPLEMENTATION),
    PipelineRole.AUDITOR: (Transition.CLEAN_UP, DeliverableKind.AUDIT_REPORT),
    PipelineRole.CLEANER: (Transition.COMPLETE, DeliverableKind.CLEANUP_REPORT),
}
"""How each role hands on when its work is done, and what it delivers."""


def hand_on(draft: Draft, step: str, name: str, report: Report) -> bool:
    """Take what a role hands on. Return whether that settles where its step goes; otherwise the other gates judge it.

    Args:
        draft: The decision.
        step: The step whose report it is.
        name: The file name of the report, which was seen already.
        report: The report, whose artifacts exist.

    """
    here = draft.step(step)
    if Gate.HANDOFF not in here.gates:
        if report.status is not ReportStatus.BLOCKED:
            draft.change(*moved(received_by(draft.state, here), HandoffStatus.COMPLETED))
        return False
    try:
        said = handoff_within(report, name)
    except BadFile as error:
        ask_again(draft, step, "; ".join(map(str, error.faults[:NAMED])))
        return True
    replans = said.head.transition is Transition.REPLAN
    if report.status is ReportStatus.BLOCKED and not replans:
        return False
    if report.verdict is Verdict.REJECTED and not replans:
        _hand_back(draft, here, said, report)
        return True
    if Gate.VERDICT in here.gates and report.verdict is None and not replans:
        return False  # that gate asks for it
    handoff = _enveloped(draft.state, here, name, said, report, draft.at)
    faults = (*_contradictions(draft.state, here, said), *lacking(handoff), *_unseen(handoff))
    if faults:
        _record(draft, here, name, _rejected(draft.state, here, name, handoff, faults))
        ask_again(draft, step, "; ".join(faults[:NAMED]))
        return True
    draft.change(*moved(received_by(draft.state, here), HandoffStatus.COMPLETED))
    _record(draft, here, name, handoff)
    if replans:
        require_replanning(draft, step, reasons_of(handoff.issues or ()))
    return replans


def refuse(draft: Draft, step: str, why: str, issues: tuple[Issue, ...] = ()) -> None:
    """Send back what the agent of a step was handed: to whoever did the work, or to the step that plans.

    `issues` are added to the handoff; without any, one is that says why.
    """
    here = draft.step(step)
    issues = issues or (Issue(IssueSeverity.HIGH, why, None),)
    draft.change(*moved(received_by(draft.state, here), HandoffStatus.REJECTED, issues))
    source = draft.step(here.needs[0]) if here.needs else here
    if here.judges:
        reject(draft, step, why)
    elif source.judges:  # its tree may be gone: the work goes on from what was merged
        reject(draft, source.id, why, by=step, carries=False)
    else:
        require_replanning(draft, step, why)


def require_replanning(draft: Draft, step: str, why: str) -> None:
    """Go back to the step that plans, within its bound; then ask a person."""
    if may_replan(draft, step):
        replan(draft, step, first_line(why) + rest_of(why))
        return
    here = draft.step(step)
    text = f"{here.agent} says that '{here.title}' requires replanning: {first_line(why)}{rest_of(why)}"
    block(draft, step, text, with_replan(draft, step))


def _hand_back(draft: Draft, here: Step, said: RoleHandoff, report: Report) -> None:
    """Handle a role that rejects what it was handed; without a reason it is asked for one."""
    role = PipelineRole(here.agent.upper())
    own = said.head.source in {None, role} and said.head.transition is _ONWARD[role][0]
    received = received_by(draft.state, here)
    known = received.handoff.issues or () if received else ()
    issues = tuple(each for each in said.issues or () if each not in known)
    why = "\n".join(filter(None, (reasons_of(issues), report.completed.strip() if not issues else "")))
    if own:
        ask_again(draft, here.id, f"it rejects, and its type is {said.head.transition}: say one of the two")
    elif received is None:
        ask_again(draft, here.id, "nothing was handed on to it that it could reject")
    elif not why:
        ask_again(draft, here.id, "it rejects, and `issues` says nothing new: say what is wrong")
    else:
        refuse(draft, here.id, why)


def _enveloped(
    state: PMState, here: Step, name: str, said: RoleHandoff, report: Report, at: float
) -> RoleHandoff:
    """Return a handoff with what the PM knows of it: from whom to whom, when, of which task."""
    role = PipelineRole(here.agent.upper())
    onward, kind = _ONWARD[role]
    transition = said.head.transition or onward
    context, made = said.context or HandoffContext(), said.deliverable or Deliverable()
    artifacts = made.artifacts or ()
    return replace(
        said,
        head=HandoffHead(
            role,
            ROUTES[transition][1],
            iso(at),
            transition,
            HandoffStatus.PENDING,
            said.head.id or _id(state, name, at),
        ),
        context=replace(context, task=state.id, scope=context.scope or state.brief.title),
        deliverable=replace(
            made,
            kind=made.kind or kind,
            summary=made.summary or report.completed.strip() or None,
            location=made.location or (artifacts[0] if len(artifacts) == 1 else None),
        ),
    )


def _id(state: PMState, name: str, at: float) -> str:
    """Return an id for a handoff whose author gave it none: of its moment and its content."""
    seed = f"{state.id} {name} {state.seen.get(name, '')}"
    return f"handoff_{int(at * 1000):013d}_{sha256(seed.encode()).hexdigest()[:8]}"


def _contradictions(state: PMState, here: Step, said: RoleHandoff) -> tuple[str, ...]:
    """Return what a handoff says otherwise than the PM knows it."""
    role, head = PipelineRole(here.agent.upper()), said.head
    task = said.context.task if said.context else None
    faults = list[str]()
    if head.source not in {None, role}:
        faults.append(f"`handoff.from` is {head.source}, and this is the order of the {role}")
    if head.transition is not None and role not in ROUTES[head.transition][0]:
        faults.append(f"`handoff.type` is {head.transition}, with which the {role} does not hand on")
    if head.id is not None and head.id in state.handoffs:
        faults.append(f"`handoff.handoffId` {head.id} was used already: take another, or leave it out")
    if task not in {None, state.id}:
        faults.append(f"`context.taskId` is {task!a}: write {state.id}, or leave it out")
    return tuple(faults)


def _unseen(handoff: RoleHandoff) -> tuple[str, ...]:
    """Return which file of a deliverable nobody has looked for: artifacts are looked up, other fields are not."""
    made = handoff.deliverable or Deliverable()
    if handoff.head.transition is Transition.REPLAN or made.location is None:
        return ()
    if made.location in (made.artifacts or ()):
        return ()
    return (f"`deliverable.location` {made.location!a} is not among `deliverable.artifacts`: list it there",)


def _rejected(
    state: PMState, here: Step, name: str, handoff: RoleHandoff, faults: tuple[str, ...]
) -> RoleHandoff:
    """Return a handoff that is incomplete as it is kept: rejected, with a reason for each fault."""
    head = replace(handoff.head, status=HandoffStatus.REJECTED)
    role = PipelineRole(here.agent.upper())
    if head.id in state.handoffs:
        head = replace(head, id=_id(state, name, float(head.id.split("_")[1]) / 1000 if head.id else 0.0))
    if head.transition is not None and role not in ROUTES[head.transition][0]:
        head = replace(head, transition=_ONWARD[role][0], target=ROUTES[_ONWARD[role][0]][1])
    reasons = tuple(Issue(IssueSeverity.CRITICAL, each, "Hand on anew") for each in faults[:NAMED])
    return replace(handoff, head=head, issues=(*(handoff.issues or ()), *reasons))


def _record(draft: Draft, here: Step, name: str, handoff: RoleHandoff) -> None:
    """Keep a handoff. One that the same step had handed on before, and that still stands, is replaced by it."""
    why = first_line(reason_of(here) or "another one was handed on in its place")
    issue = Issue(IssueSeverity.HIGH, why, None)
    draft.change(*moved(handed_on_by(draft.state, here.id), HandoffStatus.REJECTED, (issue,)))
    draft.change(HandoffRecorded(handoff.head.id or "", HandoffRecord(here.id, name, handoff)))


def reasons_of(issues: tuple[Issue, ...]) -> str:
    """Return issues as lines: how grave each is, what it says, and what it recommends."""
    return "\n".join(
        f"{each.severity}: {each.description}" + (f" ({each.recommendation})" if each.recommendation else "")
        for each in issues
    )
