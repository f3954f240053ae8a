"""Which changes of a decision notify the user (U5), derived once, when the decision is made.

An action `Tell` puts each notification into the outbox. What a question already says, no other rule repeats.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from orchestrator.formats.amounts import on_word_said
from orchestrator.formats.text import cut_at_word
from orchestrator.model.actions import Notify
from orchestrator.model.facts import Answered, StopAsked
from orchestrator.model.notification import NotificationRule
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Turn
from orchestrator.model.task import TaskState
from orchestrator.pm.plan.consultations import is_consultation
from orchestrator.pm.state.changes import BudgetWarned, QuestionAsked, TaskMoved
from orchestrator.pm.state.results import counts
from orchestrator.pm.state.run_changes import RunSignalled
from orchestrator.pm.state.step_changes import StepMoved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.facts import Fact
    from orchestrator.model.plan import Step
    from orchestrator.model.question import Question
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

_News: TypeAlias = tuple[NotificationRule, str, str, float | None]
"""Rule, title and text of a notification, and when it expires."""

_ENDS: Final = {
    TaskState.COMPLETE: "is complete",
    TaskState.PARTIAL: "is complete in part",
    TaskState.FAILED: "has failed",
}
_HELD_UP: Final = frozenset({StepState.BLOCKED, StepState.FAILED, StepState.SET_ASIDE})
_LISTED: Final = 5
_LONGEST: Final = 1500
"""Characters of one text. Agents write parts of it, and a phone shows only a few lines."""


def notify(draft: Draft, before: PMState, fact: Fact) -> None:
    """Add the notifications for a draft to its actions. `before` is the state in which the fact was decided."""
    asked = [change.question for change in draft.changes if isinstance(change, QuestionAsked)]
    asked = [question for question in asked if draft.state.questions[question.id].open]
    for question in asked:
        _notify_question(draft, question)
    if draft.state.state is TaskState.WAITING and not asked:
        _notify_waiting(draft, before)
    for rule, title, text, until in (
        *_limited(draft),
        *_held_up(draft, fact, {question.step for question in asked}),
        *_ended(draft),
    ):
        seed = f"{draft.at}:{draft.nonce}:{title}:{len(draft.changes)}"
        message = f"{_cut(text)}\n{_project(draft)}"
        draft.act(Notify(_id(draft, rule, seed), rule, _cut(title), message, draft.at, until=until))


def _notify_question(draft: Draft, question: Question) -> None:
    """Notify of a question. The id derives from the question, so that asking again makes another notification."""
    name, step = draft.state.name, draft.state.steps.get(question.step)
    lines = [_cut(question.text)]
    if question.options:
        lines.append("options: " + ", ".join(f"{n} {text}" for n, text in enumerate(question.options, 1)))
    lines += [f"It is about {_about(question, step)}", _project(draft)]
    notification = Notify(
        id=question_news(draft.state.id, question),
        rule=NotificationRule.QUESTION,
        title=f"{name} asks: {question.id}",
        text="\n".join(lines),
        at=question.asked_at,
        question=question.id,
        until=question.deadline if question.default else None,
        default=question.default,
    )
    draft.act(notification)


def _about(question: Question, step: Step | None) -> str:
    """Return what a question is about, and what goes on without an answer, as the end of a sentence."""
    if step is None:
        return "the whole task: nothing goes on before the answer."
    if question.kind is QuestionKind.PREPARATION:
        return f"'{step.title}': what depends on it waits, and so does each step whose worktree fails alike."
    return f"'{step.title}': everything that does not depend on it goes on."


def question_news(task: str, question: Question) -> str:
    """Return the id of the notification of a question: the same each time it is sent (law 4)."""
    return _id_of(task, NotificationRule.QUESTION, f"{question.id}:{question.asked_at}")


def _notify_waiting(draft: Draft, before: PMState) -> None:
    """Notify, once, that the whole task now waits for a question asked some time ago.

    If nothing else was done since the question, the question's own notification has said so already.
    """
    state = draft.state
    asked_at = max(question.asked_at for question in state.open_questions)
    about = {question.step for question in state.open_questions}
    latest = [state.runs[run] for run in state.runs.latest.values()]
    went_on = any(run.since > asked_at for run in latest if run.step not in about)
    if before.state is TaskState.WAITING or not went_on:
        return
    seed = " ".join(f"{question.id}:{question.asked_at}" for question in state.open_questions)
    notification = Notify(
        id=_id(draft, NotificationRule.BLOCKED, seed),
        rule=NotificationRule.BLOCKED,
        title=_cut(f"{state.name} waits for {', '.join(question.id for question in state.open_questions)}"),
        text=f"Everything else that could be done is done. `task questions {state.id}` shows the open questions.\n"
        f"{_project(draft)}",
        at=draft.at,
    )
    if notification.id not in state.outbox:
        draft.act(notification)


def _limited(draft: Draft) -> Iterator[_News]:
    for change in draft.changes:
        if isinstance(change, RunSignalled) and change.turn is Turn.LIMITED:
            run = draft.state.runs[change.run]
            step = draft.state.steps[run.step]
            if step.tally.limits == 1:  # the first of a row
                title = f"{draft.state.name}: {run.instance} is limited"
                yield NotificationRule.LIMITED, title, change.evidence, step.not_before or None
        elif isinstance(change, BudgetWarned):
            text = f"{change.text}. When all of it is used, its agents are ended and you are asked."
            yield (
                NotificationRule.LIMITED,
                f"{draft.state.name} comes near to its limit of {change.measure.value}",
                text,
                None,
            )


def _held_up(draft: Draft, fact: Fact, asked: set[str]) -> Iterator[_News]:
    """Yield one notification of all steps that cannot go on, unless a question says so or the user wanted it."""
    if isinstance(fact, Answered | StopAsked):
        return
    moved = {change.step: change.why for change in draft.changes if isinstance(change, StepMoved)}
    held = [
        (step, why)
        for step, why in moved.items()
        if draft.state.steps[step].state in _HELD_UP
        and step not in asked
        and not draft.state.steps[step].replaced  # the plan reaches its goal in another way: it goes on
        and not is_consultation(draft.state.steps[step])  # the rules take over, and a notice says so
    ]
    if held:
        alike = dict[tuple[StepState, str], list[str]]()
        for step, why in held:
            alike.setdefault((draft.state.steps[step].state, why), []).append(step)
        shown = list(islice(alike.items(), _LISTED))
        lines = [_of_one_cause(state, why, steps) for (state, why), steps in shown]
        if left := len(held) - sum(len(steps) for _, steps in shown):
            lines.append(f"and {left} more")
        yield (
            NotificationRule.BLOCKED,
            f"{draft.state.name}: {held[0][0]} does not go on",
            "\n".join(lines),
            None,
        )


def _of_one_cause(state: StepState, why: str, steps: list[str]) -> str:
    """Return what became of steps for one cause: it may be that of the first, and the others go with it."""
    first, *others = steps
    listed, left = others[:_LISTED], len(others) - _LISTED
    named = ", ".join(listed) + (f" and {left} more" if left > 0 else "")
    return f"{first} is {state.value.replace('_', ' ')}: {why}" + (f"; with it {named}" if others else "")


def _ended(draft: Draft) -> Iterator[_News]:
    state = draft.state
    moves = [change for change in draft.changes if isinstance(change, TaskMoved)]
    if moves and moves[-1].to is state.state and (how := _ENDS.get(state.state)) is not None:
        yield (
            NotificationRule.COMPLETE,
            f"{state.name} {how}{_on_word(state)}",
            moves[-1].why,
            None,
        )


def _on_word(state: PMState) -> str:
    """Return what the title of a complete task adds where only a judge's own words show that a criterion is met."""
    counted = counts(state)
    said = on_word_said(counted.attested, counted.criteria)
    return f": {said}" if said and state.state is TaskState.COMPLETE else ""


def _project(draft: Draft) -> str:
    """Say whose task it is: another project may have one of the same name."""
    return f"project: {draft.state.project}"


def _id(draft: Draft, rule: NotificationRule, seed: str) -> str:
    return _id_of(draft.state.id, rule, seed)


def _id_of(task: str, rule: NotificationRule, seed: str) -> str:
    key = f"{task}:{rule}:{seed}"
    return f"{rule}-{blake2b(key.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def _cut(text: str) -> str:
    return cut_at_word(text, _LONGEST)
