"""What the user, the architect and the resolvers are asked about an escalation (WF, W4, W5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.escalation import CaseState, EscalationCase, Via
from orchestrator.model.plan import Tally
from orchestrator.model.question import QuestionKind
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow_records import NoteKind, Resolver
from orchestrator.pm.plan.answer_checks import NAMED, similar_before, to_check
from orchestrator.pm.plan.asking import ABANDON, APPROVE, SET_ASIDE, ask
from orchestrator.pm.plan.families.workflow import (
    answering_pair,
    do,
    resolution_file,
    resolving,
    verify,
)
from orchestrator.pm.policies.reopen import overtake
from orchestrator.pm.state.step_changes import StepAdded, StepFed, StepReopened, StepTallied
from orchestrator.pm.state.workflow_changes import AgentRecorded, EscalationMoved

if TYPE_CHECKING:
    from orchestrator.model.workflow import WorkflowPlan
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


_OFTEN: Final = "Other agents answered as many of its escalations in a row as limits.max_escalations allows."


def move(draft: Draft, case: EscalationCase, **fields: object) -> EscalationCase:
    """Change where a case stands."""
    moved = replace(case, **fields)  # type: ignore[arg-type]
    draft.change(EscalationMoved(moved))
    return moved


def ask_somebody(draft: Draft, plan: WorkflowPlan, case: EscalationCase, via: Via) -> None:
    """Ask those whom `via` names about their notes of an escalation."""
    if via is Via.USER:
        _ask_user(draft, plan, case)
    elif via is Via.ARCHITECT:
        _ask_architect(draft, plan, case)
    else:
        _ask_resolver(
            draft, plan, case, plan.escalation.loop if via is Via.LOOP else plan.escalation.resolver, via
        )


def _ask_user(draft: Draft, plan: WorkflowPlan, case: EscalationCase) -> None:
    here = draft.step(case.step)
    lines = [f"{case.agent} asks, on '{here.title}':"]
    lines += [f"  {line}" for line in _listed(case, Via.USER)]
    edits = [edit for note in case.notes if note.via is Via.USER for edit in note.edits]
    lines += [f"  the plan would change: {edit.kind} {edit.agent}" for edit in edits[:NAMED]]
    lines += _history(draft.state, case)
    if others := to_check(plan, case.agent):
        lines.append(f"  The answer touches: {', '.join(others[:NAMED])}")
    options = (*((APPROVE,) if edits else ()), SET_ASIDE, ABANDON)
    kind = QuestionKind.LOOP if case.loop or case.bounded else QuestionKind.STUCK
    ask(draft, case.step, "\n".join(lines), options, kind)
    move(draft, case, state=CaseState.ASKED, to=Via.USER, answering="")


def _ask_architect(draft: Draft, plan: WorkflowPlan, case: EscalationCase) -> None:
    """Give the architect a task of its own: another task id, session, and verification."""
    architect = plan.escalation.architect
    planned = next(each for each in plan.agents if each.id == architect)
    work, judge = do(architect), verify(architect)
    known = draft.state.records.get(architect)
    if work not in draft.state.steps:
        draft.change(
            *(
                StepAdded(replace(step, since=draft.at))
                for step in answering_pair(draft.state.brief, architect)
            )
        )
        record = AgentRecord()
    else:
        for step in (work, judge):
            overtake(draft, step)
            draft.change(StepReopened(step, draft.step(step).attempt + 1, draft.at, "another question"))
            draft.change(StepTallied(step, Tally()))
        record = AgentRecord(task_id=_fresh_task_id(draft.state, planned.task_id, int(draft.at)))
    instructions = known.instructions if known else ""
    draft.change(AgentRecorded(architect, replace(record, instructions=instructions)))
    lines = [f"{case.agent} asks:", *_listed(case, Via.ARCHITECT), *_must_fit(plan, case)]
    lines += ["Your outputs are the answer: write what to do and why, so that it can be acted upon."]
    draft.change(StepFed(work, ("\n".join(lines),)), StepFed(judge, ("\n".join(lines[:-1]),)))
    move(draft, case, state=CaseState.ASKED, to=Via.ARCHITECT, answering=work)


def _fresh_task_id(state: PMState, planned: str, epoch: int) -> str:
    """Return a task id that no agent has: each question is a task of its own."""
    slug = planned.rpartition("_")[0]
    plan = state.brief.workflow
    taken = {each.task_id for each in plan.agents} if plan else set()
    taken |= {each.task_id for each in state.records.values()}
    while f"{slug}_{epoch}" in taken:
        epoch += 1
    return f"{slug}_{epoch}"


def _ask_resolver(draft: Draft, plan: WorkflowPlan, case: EscalationCase, resolver: str, via: Via) -> None:
    step = resolving(draft.state.brief, resolver, case.number)
    if step.id not in draft.state.steps:
        draft.change(StepAdded(replace(step, since=draft.at)))
    else:
        draft.change(
            StepReopened(step.id, draft.step(step.id).attempt + 1, draft.at, "there is more to answer")
        )
    lines = [
        f"Escalated notes of {case.agent} (its task: {draft.step(case.step).title}):",
        *_listed(case, via),
    ]
    lines += _history(draft.state, case)
    lines += _must_fit(plan, case)
    lines.append(
        f"Answer each of these notes in task_output/{resolution_file(case.number)} of your own folder."
    )
    draft.change(StepFed(step.id, ("\n".join(lines),)))
    move(draft, case, state=CaseState.ASKED, to=via, answering=step.id)


def _listed(case: EscalationCase, via: Via) -> list[str]:
    """Return the notes that somebody is asked about, with what others said of them."""
    said = list[str]()
    for note in case.notes:
        if note.via is via:
            kind = f" ({note.kind})" if note.kind is not NoteKind.NONE else ""
            said.append(f"- {note.id}{kind}: {note.wording}")
            who = "the user" if note.by is Resolver.USER else "the architect"
            said += [f"  {who} answered: {note.answer} - check this answer"] if note.answer else []
    return said


def _must_fit(plan: WorkflowPlan, case: EscalationCase) -> list[str]:
    others = to_check(plan, case.agent)
    return (
        [f"Check the answer against the tasks of: {', '.join(others)}. Name them in `checked`."]
        if others
        else []
    )


def _history(state: PMState, case: EscalationCase) -> list[str]:
    """Return what was asked and answered before: all of this agent if a bound was reached, else what is alike."""
    if case.loop or case.bounded:
        earlier = [
            (other, note)
            for other in state.cases.values()
            if other.agent == case.agent and other.number < case.number
            for note in other.notes
        ]
        often = "The same is asked again and again." if case.loop else _OFTEN
        head = [f"{often} What was asked before:"]
    else:
        earlier, head = list(similar_before(state, case)), []
    return head + [
        f"  {other.agent} asked before ({other.number}): {note.question} - answer: {note.answer or 'none'}"
        for other, note in earlier[-NAMED:]
    ]
