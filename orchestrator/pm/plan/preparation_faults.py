"""A worktree that cannot be made ready: steps that fail for one cause are one question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.formats.check_output import failed_alike
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.model.question import Question
    from orchestrator.pm.state.task_state import PMState


def asked_already(state: PMState, step: Step) -> Question | None:
    """Return the open question about another step whose preparation failed as this step's did; None if none is open."""
    asked = (each for each in state.open_questions if each.kind is QuestionKind.PREPARATION)
    return next((each for each in asked if _fails_alike(step, state.steps.get(each.step))), None)


def fails_alike(state: PMState, question: Question) -> list[Step]:
    """Return the pending steps whose preparation failed as that did which an open question asks about."""
    if question.kind is not QuestionKind.PREPARATION:
        return []
    asked = state.steps.get(question.step)
    return [step for step in state.steps.among(state.steps.pending) if _fails_alike(step, asked)]


def waiting_for_answer(state: PMState, most: int) -> list[Step]:
    """Return the pending steps that an open question about another step's preparation holds up.

    `most` is how often in a row a preparation may fail before somebody is asked. A step that failed less often tries
    again by itself.
    """
    found = (step for question in state.open_questions for step in fails_alike(state, question))
    return [step for step in found if step.tally.preparations >= most]


def _fails_alike(step: Step, other: Step | None) -> bool:
    if other is None or other.id == step.id or other.state is not StepState.BLOCKED:
        return False
    here, there = step.cause, other.cause
    if here is None or there is None:
        return False
    return here.what == there.what and failed_alike(there.lines, here.lines)
