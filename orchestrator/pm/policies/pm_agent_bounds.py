"""Bounds of an agent as PM: how often it may order the same, order beside the plan, and ask the same (law 8, W5).

::

    an order outside the plan ─┬─ after `max_unplanned_orders` of them ─▶ refused, and a person is asked to allow more
                               ├─ after `max_rejections` tries at the same work ─▶ the same
                               └─ otherwise ─▶ carried out
    a question ─┬─ the same one is open ─▶ refused
                ├─ asked `max_repeated_questions` times ─▶ refused; the last time it shows its history
                └─ otherwise ─▶ asked

A refused decision counts as fruitless, so an agent that insists is given up and the rules go on alone
(`limits.max_pm_failures`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.pm.plan.asking import CONTINUE, USER, WITHDRAWN, ask
from orchestrator.pm.plan.repeated_questions import times_asked
from orchestrator.pm.policies.reopen import first_line

if TYPE_CHECKING:
    from orchestrator.model.question import Question
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

NO: Final = "no"
_WANTS: Final = "The PM agent wants "
_HISTORY: Final = "\nIt was asked before:"


def refused_order(draft: Draft, run: Run, agent: str, instructions: str) -> str:
    """Return why an order outside the plan is not carried out, having asked a person where that helps; else empty."""
    steps, limits = draft.state.steps, draft.limits
    mine = [step for step in steps.values() if step.unplanned]
    more = f"{_WANTS}to give more orders outside the plan, "
    if len(mine) >= limits.max_unplanned_orders * (1 + len(_grants(draft.state, more))):
        text = f"{more}{len(mine)} so far; the next one is for {agent}: {first_line(instructions)}. Allow as many more?"
        reached = f"{len(mine)} orders outside the plan were given (limits.max_unplanned_orders)"
        return _asked_whether(draft, run, more, text, reached)
    if (tries := _tries(draft.state, agent, instructions) - 1) >= limits.max_rejections:
        text = f"{_again(agent)}{tries} times so far: {first_line(instructions)}. Try again?"
        reached = f"{agent} has tried that {tries} times (limits.max_rejections)"
        return _asked_whether(draft, run, _again(agent), text, reached)
    return ""


def refused_question(state: PMState, text: str, most: int) -> str:
    """Return why a question of the PM agent is not asked: it is open, or was asked `most` times; else empty."""
    same = next((each for each in state.open_questions if _plain(each) == text), None)
    alike = _alike(state, text)
    if same := same or next((each for each in alike if each.open), None):
        return f"{same.id} asks the same and is open: wait for its answer"
    if len(alike) < most:
        return ""
    said = [f"; {each.id} was answered: {first_line(each.answer)}" for each in alike if _is_answered(each)]
    return f"that was asked {len(alike)} times (limits.max_repeated_questions)" + "".join(said[-1:])


def with_history(state: PMState, text: str, most: int) -> str:
    """Return a question's text; if it may be asked for the last time, with the earlier answers."""
    alike = [each for each in _alike(state, text) if _is_answered(each)]
    if not alike or len(alike) + 1 < most:
        return text
    lines = (f"\n  {each.id} was answered by {each.by}: {first_line(each.answer)}" for each in alike)
    return f"{text}{_HISTORY}{''.join(lines)}"


def _alike(state: PMState, text: str) -> list[Question]:
    """Return the questions with which the PM agent has asked the same, oldest first."""
    asked = (each for each in state.questions.values() if each.kind is QuestionKind.PM)
    return [each for each in asked if times_asked([_plain(each)], text) > 1]


def _plain(question: Question) -> str:
    return question.text.partition(_HISTORY)[0]


def _is_answered(question: Question) -> bool:
    return not question.open and question.answer != WITHDRAWN


def _again(agent: str) -> str:
    return f"{_WANTS}the same of {agent}, "


def _tries(state: PMState, agent: str, instructions: str) -> int:
    """Return the number of this try at the same work, outside the plan, by an order of an agent.

    Given-up work counts whatever its wording. When a person allows another try, counting begins anew.
    """
    granted = (each.answered_at or 0.0 for each in _grants(state, _again(agent)))
    counted_from, steps = max(granted, default=0.0), state.steps
    earlier = [
        step
        for step in steps.among(steps.of_agent(agent))
        if step.id.startswith(f"{agent}-") and not (step.subtask or step.judges)
        if (step.began_at or step.since) >= counted_from
    ]
    alike = times_asked((step.instructions for step in earlier), instructions)
    return max(alike, 1 + sum(step.state is StepState.SET_ASIDE for step in earlier))


def _asked_whether(draft: Draft, run: Run, start: str, text: str, reached: str) -> str:
    """Ask a person, once, whether the PM agent may go beyond a bound; return what it is to know of that.

    The questions about one bound begin with the same words, `start`.
    """
    last = next(reversed(_asked(draft.state, start)), None)
    if last is not None and not last.open and not _is_granted(last):
        return f"{reached}, and the user does not want more: {first_line(last.answer)}"
    is_open = last is not None and last.open
    if is_open or ask(draft, run.step, text, (CONTINUE, NO), QuestionKind.PM):
        return f"{reached}: the user is asked whether to go on"
    return f"{reached}, and a question of yours is open: wait for its answer"


def _asked(state: PMState, start: str) -> list[Question]:
    """Return the questions about a bound that are open, or that a person has answered."""
    asked = (each for each in state.questions.values() if each.kind is QuestionKind.PM)
    return [each for each in asked if each.text.startswith(start) and each.by in {"", USER}]


def _grants(state: PMState, start: str) -> list[Question]:
    return [each for each in _asked(state, start) if _is_granted(each)]


def _is_granted(question: Question) -> bool:
    return question.answer.strip().lower() == CONTINUE
