"""Answers, by the user or by default after the deadline, and their effect on the step that asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.amounts import span_said
from orchestrator.model.plan import Gate, StepState, Tally
from orchestrator.model.question import OPTIONS_ONLY, QuestionKind
from orchestrator.model.run import Ending
from orchestrator.model.task import TaskState
from orchestrator.pm.handlers.permission_requests import permitted
from orchestrator.pm.handlers.stuck_termination import whether_gone
from orchestrator.pm.plan.advance import end_run
from orchestrator.pm.plan.asking import (
    ABANDON,
    ACCEPT,
    ANEW,
    APPROVE,
    CONTINUE,
    PM,
    POLICY,
    REPLAN,
    SET_ASIDE,
    SETTING,
    USER,
    WITHDRAWN,
    because,
)
from orchestrator.pm.plan.consultations import is_consultation
from orchestrator.pm.policies.budget import budget_answered
from orchestrator.pm.policies.completion import approve, go_through, review_asked_by, through_gates
from orchestrator.pm.policies.consultation_end import fail
from orchestrator.pm.policies.escalations import answered_by_user
from orchestrator.pm.policies.evidence import accepted_by_user
from orchestrator.pm.policies.gates.turns import adapt_as_approved
from orchestrator.pm.policies.operations import deletes_answered
from orchestrator.pm.policies.reopen import feed, may_replan, reopen, replan, set_aside
from orchestrator.pm.policies.turn_ends import resolve_notes
from orchestrator.pm.state.changes import (
    CriteriaMarked,
    QuestionAnswered,
    RequestAcknowledged,
    SkillsFound,
    TaskMoved,
)
from orchestrator.pm.state.results import delivered
from orchestrator.pm.state.run_changes import RunProgressed
from orchestrator.pm.state.step_changes import StepTallied

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.model.facts import Answered
    from orchestrator.model.question import Question
    from orchestrator.pm.state.draft import Draft

_OF_A_KIND: Final[dict[QuestionKind, Callable[[Draft, Question, str], None]]] = {
    QuestionKind.BUDGET: budget_answered,
    QuestionKind.DELETES: deletes_answered,
    QuestionKind.TERMINATION: whether_gone,
}
"""How to handle the answer to a question of a kind of its own."""


def answered(draft: Draft, fact: Answered) -> None:
    """Carry an answer to exactly the step that asked (law 10)."""
    draft.change(RequestAcknowledged(fact.request))
    question = draft.state.questions.get(fact.question)
    if question is None or not question.open:
        draft.refused = True
        draft.reply = (
            f"{fact.question} was answered already: {question.answer}"
            if question
            else f"{draft.state.name} has no question {fact.question}"
        )
        return
    if question.kind in OPTIONS_ONLY and fact.text.strip().lower() not in question.options:
        draft.refused = True
        options = ", ".join(question.options)
        draft.reply = (
            f"{question.id} takes one of its options, and no other words, as nobody reads them: {options}"
        )
        return
    if fact.skills is not None and fact.skills != draft.state.skills:
        draft.change(SkillsFound(fact.skills))
    draft.change(QuestionAnswered(question.id, fact.text, fact.at, by=USER))
    draft.reply = f"{question.id} is answered"
    _carry_out(draft, draft.state.questions[question.id])


def take_default(draft: Draft, question: Question) -> None:
    """Take the default answer after the deadline: task.md's, or for a permission that of a setting."""
    waited = span_said(draft.at - question.asked_at)
    by = SETTING if question.kind is QuestionKind.PERMISSION else POLICY
    draft.notice(f"nobody answered {question.id} for {waited}: {question.default}, as {by} says")
    draft.change(QuestionAnswered(question.id, question.default, draft.at, by=by))
    question = draft.state.questions[question.id]
    if question.default == REPLAN and not may_replan(draft, question.step):
        # The bound was reached after this question was asked.
        _set_aside(draft, question.step, "it may not be planned anew again (limits.max_replans)")
    else:
        _carry_out(draft, question)


def _carry_out(draft: Draft, question: Question) -> None:
    """Do what the answer to a question says."""
    text, step = question.answer, question.step
    word = text.strip().lower()
    offered = word in question.options
    if question.kind is QuestionKind.PERMISSION:
        permitted(draft, question)
    elif question.kind is QuestionKind.PM and is_consultation(draft.step(step)):
        return  # it blocks nothing: the next briefing has it
    elif word == ABANDON:
        _abandon(draft, f"it was abandoned {because(question)}")
    elif word == SET_ASIDE and offered:
        _set_aside(draft, step, f"set aside {because(question)}")
    elif question.kind in _OF_A_KIND:
        _OF_A_KIND[question.kind](draft, question, text)
    elif not step:
        if word != CONTINUE:
            draft.notice(f"{question.id}: {text}")
    elif word == ACCEPT and offered:
        draft.change(CriteriaMarked(accepted_by_user(draft.state, question.id)))
        through_gates(draft, step, past=Gate.CRITERIA)
    elif word == REPLAN and offered:
        replan(draft, step, f"to be planned anew {because(question)}", counts=question.by != USER)
    elif word == APPROVE and offered and not answered_by_user(draft, question):
        adapt_as_approved(draft, step)
        approve(draft, step)
    elif (word == CONTINUE and offered) or question.kind is QuestionKind.BOX:
        draft.change(RunProgressed(question.run, draft.at))
    else:
        _go_on(draft, question, anew=word == ANEW and offered)


def _go_on(draft: Draft, question: Question, *, anew: bool) -> None:
    """Continue a step with the answer as feedback: in the same tree and conversation, unless it is to begin anew."""
    step, text = question.step, question.answer
    if answered_by_user(draft, question):
        return
    if question.kind is QuestionKind.APPROVAL:  # of a judge's word: it is the work that is done again
        step = draft.step(step).judges or step
    if question.by != USER:
        said = f"Nobody answered {question.id} in time; {question.by} says what to do then: {text}"
    elif question.kind is QuestionKind.APPROVAL:
        said = f"The user does not approve: {text}"
    else:
        said = f"The user answered {question.id}: {text}"
    if question.kind is not QuestionKind.PREPARATION:  # its agent has not begun, and has no part in it
        feed(draft, step, said)
    resolve_notes(draft, step, text)
    reopen(draft, step, f"goes on {because(question)}", carries=not anew)
    draft.change(StepTallied(step, Tally(replans=draft.step(step).tally.replans)))


def _set_aside(draft: Draft, step: str, why: str) -> None:
    """Give a step up. If it is a review that a report asked for, the reviewed step goes on without it."""
    if step == draft.state.consultation.step:
        fail(draft, step, why)
        return
    set_aside(draft, step, why)
    reviewed = draft.step(step).judges
    asked = review_asked_by(draft.state, reviewed) if reviewed else None
    if asked is not None and asked.id == step and draft.step(reviewed).state is StepState.CHECKING:
        draft.notice(f"{reviewed} goes on without its review: {why}")
        go_through(draft, reviewed)


def _abandon(draft: Draft, why: str) -> None:
    """End the task, with what was delivered of it."""
    for question in draft.state.open_questions:
        draft.change(QuestionAnswered(question.id, WITHDRAWN, draft.at, by=PM))
    if draft.state.state in {TaskState.COMPLETE, TaskState.PARTIAL, TaskState.FAILED}:
        return
    ended = TaskState.PARTIAL if delivered(draft.state) else TaskState.FAILED
    draft.change(TaskMoved(ended, why, draft.at))
    for run in draft.state.live_runs:
        end_run(draft, run, Ending.STOPPED)
