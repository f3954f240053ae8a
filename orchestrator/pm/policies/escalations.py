"""Escalated notes find an answer: by the user, the plan's architect, its resolver, or its loop agent (WF, W4, W5).

::

    blocked ─▶ waits its turn ─▶ user ──────┐
                                 architect ─┼─▶ resolver checks ─▶ into the notes, and the agent works on
                                 resolver ──┘       ▲   │ routes, edits the plan
                                                    └───┘

First come, first served, one at a time. Where the plan names nobody, none of this is looked at, and the user is asked.
Those who answer have nobody above them but the user: what they escalate themselves goes there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.escalation import CaseNote, CaseState, EscalationCase, Via
from orchestrator.model.plan import StepState, Tally
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow import Escalation
from orchestrator.model.workflow_records import NoteKind, NoteStatus, Resolver
from orchestrator.pm.plan.adaptation import AdaptationRefused
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.plan.asking import APPROVE
from orchestrator.pm.plan.families.workflow import (
    on_call,
    verify,
)
from orchestrator.pm.plan.repeated_questions import times_asked
from orchestrator.pm.policies.adapting import adaptation_of, carry_out
from orchestrator.pm.policies.escalation_questions import ask_somebody, move
from orchestrator.pm.policies.reopen import feed, reopen, set_aside
from orchestrator.pm.policies.turn_ends import hands_in_by_files, write_answers
from orchestrator.pm.state.step_changes import StepMoved, StepTallied
from orchestrator.pm.state.workflow_changes import EscalationMoved

if TYPE_CHECKING:
    from orchestrator.model.question import Question
    from orchestrator.model.workflow import WorkflowPlan
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

_ARCHITECTS: Final = frozenset({NoteKind.TECHNOLOGY, NoteKind.ARCHITECTURE, NoteKind.SECURITY})
_OVER: Final = frozenset({StepState.BLOCKED, StepState.FAILED, StepState.SET_ASIDE})
_ORDER: Final = (Via.USER, Via.ARCHITECT, Via.RESOLVER, Via.LOOP)
"""Who is asked first: what the user and the architect say is checked by the resolver."""


def escalate(draft: Draft, step: str, why: str) -> bool:
    """Put an agent's escalated notes in line for an answer. Return False if the plan names nobody who answers."""
    plan, here = draft.state.brief.workflow, draft.step(step)
    if plan is None or not on_call(plan) or here.agent in on_call(plan) or not hands_in_by_files(here):
        return False
    session = draft.state.records.get(here.agent, AgentRecord()).session
    waiting = [each for each in session.notes if each.status is NoteStatus.ESCALATED] if session else []
    if session is None or not waiting:
        return False
    most = draft.limits_of(step).max_repeated_questions
    earlier = _asked_before(draft.state, here.agent, session.task_id)
    loop = any(times_asked(earlier, each.description) >= most for each in waiting)
    named = plan.escalation
    bounded = _answered_by_agents(draft.state, here.agent, session.task_id) >= draft.limits.max_escalations
    if bounded:
        named = Escalation()
    elif loop and _loops_settled(draft.state, here.agent, session.task_id) >= most:
        named = replace(named, loop="")
    notes = tuple(
        CaseNote(each.id, each.kind, each.description, _via(named, each.kind, loop=loop)) for each in waiting
    )
    case = EscalationCase(
        len(draft.state.cases) + 1,
        step,
        here.agent,
        session.task_id,
        draft.at,
        notes,
        loop=loop,
        bounded=bounded,
    )
    draft.change(StepMoved(step, StepState.BLOCKED, draft.at, why), EscalationMoved(case))
    return True


def _asked_before(state: PMState, agent: str, task_id: str) -> list[str]:
    """Return what an agent asked for one task since the user, or an edit of its plan, last dealt with a loop of it."""
    asked = list[str]()
    adapted = max((each.at for each in state.adaptations if agent in dict(each.effects)), default=0.0)
    for case in state.cases.values():
        if (case.agent, case.task_id) != (agent, task_id) or case.at < adapted:
            continue
        by_user = case.loop and not case.open and any(each.by is Resolver.USER for each in case.notes)
        asked = [] if by_user else [*asked, *(each.question for each in case.notes)]
    return asked


def _loops_settled(state: PMState, agent: str, task_id: str) -> int:
    """Return how many loops of one task were settled since the user dealt with one. An adaptation ends no count."""
    settled = 0
    for case in state.cases.values():
        if (case.agent, case.task_id) == (agent, task_id) and case.loop and not case.open:
            settled = 0 if any(each.by is Resolver.USER for each in case.notes) else settled + 1
    return settled


def _answered_by_agents(state: PMState, agent: str, task_id: str) -> int:
    """Return how many escalations in a row were settled without the user. An adaptation ends no count."""
    settled = 0
    for case in state.cases.values():
        if (case.agent, case.task_id) == (agent, task_id) and not case.open:
            settled = 0 if any(each.by is Resolver.USER for each in case.notes) else settled + 1
    return settled


def _via(named: Escalation, kind: NoteKind, *, loop: bool = False) -> Via:
    """Return who answers a note first (contract, Escalations)."""
    if loop:
        return Via.LOOP if named.loop else Via.USER
    if kind in _ARCHITECTS:
        return Via.ARCHITECT if named.architect else Via.USER
    if kind is NoteKind.REQUIREMENTS:
        return Via.USER
    return Via.RESOLVER if named.resolver else Via.USER


def without_resolver(named: Escalation, kind: NoteKind) -> Via:
    """Return who answers a note that the resolver could not."""
    return _via(replace(named, resolver=""), kind)


def answer_escalations(draft: Draft) -> None:
    """Take the first escalation as far as it goes now. What no longer waits for an answer is settled."""
    plan = draft.state.brief.workflow
    if plan is None or not draft.state.cases:
        return
    for waiting in [each for each in draft.state.cases.values() if each.open]:
        if draft.step(waiting.step).state is not StepState.BLOCKED:
            _drop(draft, waiting)
    while (case := next((each for each in draft.state.cases.values() if each.open), None)) is not None:
        if case.state is CaseState.ASKED:
            case = _outcome(draft, plan, case)
        if case.state is CaseState.ASKED:
            return
        via = next((each for each in _ORDER if any(note.via is each for note in case.notes)), None)
        if via is None:
            _write(draft, case)
        else:
            ask_somebody(draft, plan, case, via)


def _drop(draft: Draft, case: EscalationCase) -> None:
    """Settle a case whose agent goes on, or was given up: nobody waits for the answer.

    An answer that edits the plan lets the agent go on at once: what was answered is written into its notes.
    """
    if case.answering and case.state is CaseState.ASKED and not draft.step(case.answering).settled:
        set_aside(draft, case.answering, "its question no longer matters", replaced=True)
    if draft.step(case.step).state is not StepState.SET_ASIDE:
        _pass_on(draft, case)
    move(draft, case, state=CaseState.SETTLED)


# Answers ------------------------------------------------------------------------------------------------


def _outcome(draft: Draft, plan: WorkflowPlan, case: EscalationCase) -> EscalationCase:
    """Return what became of a question. Those who could not answer are passed over."""
    if case.to is Via.USER:
        asked = any(each.step == case.step for each in draft.state.open_questions)
        gone = draft.state.state in ACTIVE and not asked
        return move(draft, case, state=CaseState.WAITING) if gone else case  # it was withdrawn with the task
    step = draft.step(case.answering)
    if case.to is Via.ARCHITECT:
        judge = draft.step(verify(plan.escalation.architect))
        if judge.state is StepState.PASSED:
            answer = draft.state.records[plan.escalation.architect].answer or "see the architect's outputs"
            return _answered(draft, plan, case, answer, Resolver.EXECUTOR)
        return _passed_over(draft, plan, case) if step.state is StepState.SET_ASIDE else case
    return _passed_over(draft, plan, case) if step.state in _OVER else case


def _passed_over(draft: Draft, plan: WorkflowPlan, case: EscalationCase) -> EscalationCase:
    if draft.step(case.answering).state is not StepState.SET_ASIDE:
        set_aside(draft, case.answering, "it gave no answer that holds", replaced=True)
    notes = tuple(
        note
        if note.via is not case.to
        else replace(
            note, via=Via.NOBODY
        )  # it was answered, and only the check is missing: the user sees the list
        if note.answer
        else replace(
            note, via=Via.USER if case.to is Via.ARCHITECT else without_resolver(plan.escalation, note.kind)
        )
        for note in case.notes
    )
    draft.notice(
        f"escalation {case.number} of {case.agent}: {case.to} gave no answer that holds; others are asked"
    )
    too_deep = plan.bounds.depth + 1  # whoever could not answer is not asked to check answers either
    return move(draft, case, notes=notes, state=CaseState.WAITING, depth=too_deep)


def _answered(
    draft: Draft, plan: WorkflowPlan, case: EscalationCase, answer: str, by: Resolver
) -> EscalationCase:
    """Take an answer of the user or the architect. The resolver checks it, if it may still be asked."""
    checks = plan.escalation.resolver and not (case.loop or case.bounded) and case.depth <= plan.bounds.depth
    then = Via.RESOLVER if checks else Via.NOBODY
    notes = tuple(
        replace(note, answer=answer, by=by, via=then) if note.via is case.to else note for note in case.notes
    )
    return move(draft, case, notes=notes, state=CaseState.WAITING)


def answered_by_user(draft: Draft, question: Question) -> bool:
    """Take an answer of the user for the escalation that asked. Return False if none did."""
    plan = draft.state.brief.workflow
    case = next(
        (
            each
            for each in draft.state.cases.values()
            if each.state is CaseState.ASKED and each.to is Via.USER
        ),
        None,
    )
    if plan is None or case is None or case.step != question.step:
        return False
    edits = tuple(edit for note in case.notes if note.via is Via.USER for edit in note.edits)
    text = question.answer
    if edits and text.strip().lower() == APPROVE:
        result = adaptation_of(draft.state, edits, by_user=True)
        if isinstance(result, AdaptationRefused):
            draft.notice(f"the plan is not changed: {'; '.join(result.reasons[:3])}")
            text = "The plan could not be changed as proposed. Go on without that."
        else:
            text = "The plan was changed as proposed."
            settled = tuple(
                replace(n, answer=text, by=Resolver.USER, via=Via.NOBODY) if n.edits else n
                for n in case.notes
            )
            case = move(draft, case, notes=settled, state=CaseState.WAITING)
            carry_out(draft, result, edits, by="user", cause=f"escalation {case.number}", by_user=True)
            return True
    _answered(draft, plan, case, text, Resolver.USER)
    return True


def _pass_on(draft: Draft, case: EscalationCase) -> None:
    """Write what was answered into the notes of the agent, and into its next order."""
    answered = [note for note in case.notes if note.via is Via.NOBODY]
    if answered:
        write_answers(draft, case.step, {note.id: (note.answer, note.by) for note in answered})
        said = "\n".join(f"- {note.id}: {note.answer}" for note in answered)
        feed(draft, case.step, f"Your escalated notes were answered:\n{said}")


def _write(draft: Draft, case: EscalationCase) -> None:
    """Write the answers into the notes, and let the agent work on."""
    _pass_on(draft, case)
    reopen(draft, case.step, f"escalation {case.number} is answered", carries=True)
    if any(note.by is Resolver.USER for note in case.notes):
        here = draft.step(case.step)
        draft.change(
            StepTallied(case.step, Tally(rejections=here.tally.rejections, replans=here.tally.replans))
        )
    move(draft, case, state=CaseState.SETTLED)
