"""Questions: asked once, withdrawn when they no longer matter (law 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.question import Question, QuestionKind
from orchestrator.pm.state.changes import QuestionAnswered, QuestionAsked

if TYPE_CHECKING:
    from orchestrator.model.budget import Measure
    from orchestrator.model.permission import PermissionRule
    from orchestrator.model.task import Unanswered
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

RETRY: Final = "retry"
ANEW: Final = "begin-anew"
REPLAN: Final = "replan"
SET_ASIDE: Final = "set-aside"
ABANDON: Final = "abandon"
ACCEPT: Final = "accept"
APPROVE: Final = "approve"
REJECT: Final = "reject"
CONTINUE: Final = "continue"
DOUBLE: Final = "double"
ALLOW: Final = "allow"
ALWAYS: Final = "always"
DENY: Final = "deny"
WORDS: Final = frozenset(
    {RETRY, ANEW, REPLAN, SET_ASIDE, ABANDON, ACCEPT, APPROVE, REJECT, ALLOW, ALWAYS, DENY}
)
"""Answers with a meaning to the PM; an option that the PM agent offers must not be one of them."""

WITHDRAWN: Final = "(withdrawn)"

USER: Final = "the user"
POLICY: Final = "task.md"
SETTING: Final = "permissions.wait"
PM: Final = "the PM"
"""Who answered."""

STUCK: Final = (RETRY, ANEW, SET_ASIDE, ABANDON)
"""The options for a step that reached a bound; any other text is passed on to its agent.

`retry` continues in the same tree and conversation, `begin-anew` in a clean tree with a new conversation.
"""


def ask(  # noqa: PLR0913, PLR0917 (a form with blanks)
    draft: Draft,
    step: str,
    text: str,
    options: tuple[str, ...] = STUCK,
    kind: QuestionKind = QuestionKind.STUCK,
    run: str = "",
    otherwise: Unanswered | None = None,
    permission: PermissionRule | None = None,
    *,
    measure: Measure | None = None,
) -> bool:
    """Ask the user about a step, or about the whole task if `step` is empty.

    While a question about the same step is open, nothing more is asked, with two exceptions: a question about its box
    is withdrawn in favour of the new one, and a question whether a run is gone does not prevent other questions.
    If task.md names a default answer that is one of the options, it is taken when nobody answers in time; but after
    `limits.max_default_answers` defaults in a row about the same step, a person must answer (law 8).
    `otherwise` replaces task.md's default, without that bound. `permission` is the rule that an answer of `always`
    adds. `measure` is the limit that the task has used up: no default answer ever raises it.
    Returns whether the question was asked.
    """
    if kind is not QuestionKind.BOX:  # a question about a lost box gives way to any other
        withdraw(draft, step, kind=QuestionKind.BOX)
    about = [question for question in draft.state.open_questions if question.step == step]
    if any(
        kind is QuestionKind.TERMINATION or question.kind is not QuestionKind.TERMINATION
        for question in about
    ):
        return False
    policy = otherwise or draft.state.brief.config.unanswered
    default, deadline = "", None
    bounded = (
        otherwise is not None or _defaults_in_a_row(draft.state, step) < draft.limits.max_default_answers
    )
    given = options if measure is None else (ABANDON,)
    if policy is not None and policy.answer in given and bounded:
        default, deadline = policy.answer, draft.at + policy.after
    question = Question(
        id=f"q{len(draft.state.questions) + 1}",
        step=step,
        text=text,
        options=options,
        asked_at=draft.at,
        kind=kind,
        run=run,
        default=default,
        deadline=deadline,
        permission=permission,
        measure=measure,
    )
    draft.change(QuestionAsked(question))
    return True


def because(question: Question) -> str:
    """Return what follows the question's answer is because of: somebody's answer, or that nobody gave one."""
    if question.by in {POLICY, SETTING}:
        return f"because nobody answered {question.id} in time"
    return f"in answer to {question.id}"


def _defaults_in_a_row(state: PMState, step: str) -> int:
    """Return how many answers about a step were defaults since a person last gave one."""
    asked = [question for question in state.questions.values() if question.step == step]
    by = [question.by for question in reversed(asked) if question.by in {USER, POLICY}]
    return next((count for count, who in enumerate(by) if who == USER), len(by))


def withdraw(draft: Draft, step: str, run: str = "", kind: QuestionKind | None = None) -> None:
    """Withdraw the questions about a step, or of one run of it, or of one kind, because they no longer matter."""
    for question in draft.state.open_questions:
        if question.step == step and run in {"", question.run} and kind in {None, question.kind}:
            withdraw_question(draft, question)


def withdraw_question(draft: Draft, question: Question) -> None:
    """Withdraw one question that no longer matters."""
    draft.change(QuestionAnswered(question.id, WITHDRAWN, draft.at, by=PM))
