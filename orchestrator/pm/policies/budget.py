"""The budget of a task: a warning at 80 %; at 100 % its agents are ended and a person is asked (U6, law 8).

::

    ::

        used ─┬─ 80 % of a limit ─▶ a notification, once
              └─ 100 % ─▶ live runs end, their work is kept; nothing new starts; a question
                            double, or an amount ─▶ goes on where it was
                            continue ─▶ the same, without such a limit

    Only usage that programs report is counted (law 6: it is a claim, and passes no gate). Time counts while the task
    runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.amounts import cost_said, money_said, prices_said, span_said, tokens_said
from orchestrator.formats.budget import read_amount
from orchestrator.model.budget import Budget, Measure
from orchestrator.model.errors import Refused
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending
from orchestrator.model.task import TaskState
from orchestrator.model.usage import Usage
from orchestrator.pm.plan.advance import ACTIVE, end_run
from orchestrator.pm.plan.asking import ABANDON, CONTINUE, DOUBLE, ask, withdraw_question
from orchestrator.pm.state.changes import BudgetRaised, BudgetWarned
from orchestrator.pm.state.run_changes import RunMetered

if TYPE_CHECKING:
    from orchestrator.model.facts import UsageSeen
    from orchestrator.model.limits import Limits
    from orchestrator.model.question import Question
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

WARNS: Final = 0.8
"""The share of a limit at which the user is warned."""

_INSTANT: Final = 0.001
"""Seconds of rounding error that sums of times may have."""

_LIKE: Final = {Measure.TOKENS: "5M", Measure.COST: "$40", Measure.TIME: "12 h"}


def usage_seen(draft: Draft, fact: UsageSeen) -> None:
    """Record what a run has used so far. Sums never decrease."""
    run = draft.state.runs.get(fact.run)
    if run is not None and (usage := run.usage.at_least(fact.usage)) != run.usage:
        draft.change(RunMetered(run.id, usage))


def budget_of(state: PMState, limits: Limits) -> Budget:
    """Return what a task may use: the user's last answer, else task.md, else the settings."""
    usual = state.brief.config.limits.within(limits)
    most = {each: state.raised.get(each.value, usual.of(each)) for each in Measure}
    tokens = most[Measure.TOKENS]
    return Budget(None if tokens is None else int(tokens), most[Measure.COST], most[Measure.TIME])


def used(state: PMState, measure: Measure, at: float) -> float:
    """Return how much of one measure a task has used by now, as far as it was reported."""
    match measure:
        case Measure.TOKENS:
            return state.runs.usage.tokens
        case Measure.COST:
            return state.runs.usage.dollars or 0.0
        case Measure.TIME:
            worked = state.worked
            return worked.time + (max(at - worked.since, 0.0) if worked.since else 0.0)


def said(measure: Measure, amount: float) -> str:
    """Return an amount in words that a person would use."""
    match measure:
        case Measure.TOKENS:
            return f"{tokens_said(amount)} tokens"
        case Measure.COST:
            return money_said(amount)
        case Measure.TIME:
            return span_said(amount)


def see_budget(draft: Draft) -> None:
    """Act on what the task has used: nothing, a warning, or end its runs and ask."""
    if draft.state.state not in ACTIVE:
        return
    budget = budget_of(draft.state, draft.limits)
    limited = [each for each in Measure if budget.of(each) is not None]
    over = [each for each in limited if _reached(draft.state, budget, each, draft.at, 1.0)]
    if _is_done(draft.state):
        over = []
    for question in draft.state.open_questions:
        if question.kind is QuestionKind.BUDGET and question.measure not in over:
            withdraw_question(draft, question)
    if over:
        _stop(draft, over[0], budget.of(over[0]) or 0.0)
        return
    for each in limited:
        if each not in draft.state.warned and _reached(draft.state, budget, each, draft.at, WARNS):
            text = f"{draft.state.name} has used {_of(draft, each, budget.of(each) or 0.0)}"
            draft.change(BudgetWarned(each, text))
            draft.notice(text)


def budget_answered(draft: Draft, question: Question, text: str) -> None:
    """Handle an answer: no limit, double, or an amount. Anything else leads to the question again."""
    measure, word = question.measure, text.strip().lower()
    if measure is None:
        return
    if word == CONTINUE:
        draft.change(BudgetRaised(measure))
        return
    most = budget_of(draft.state, draft.limits).of(measure)
    try:
        raised = _doubled(draft, measure, most or 0.0) if word == DOUBLE else read_amount(measure, text)
    except Refused as problem:
        draft.notice(f"the answer to {question.id} {problem}")
        return
    if raised <= used(draft.state, measure, draft.at):
        draft.notice(f"the answer to {question.id} is less than is used already: {said(measure, raised)}")
        return
    draft.change(BudgetRaised(measure, raised))


def wake_at(state: PMState, limits: Limits) -> float | None:
    """Return when the task's time reaches its next threshold, a warning or the limit; None if it cannot."""
    budget, worked = budget_of(state, limits), state.worked
    if state.state is not TaskState.RUNNING or not worked.since or budget.time is None:
        return None
    works = any(run.ending is Ending.NOT and run.reported_at is None for run in state.live_runs)
    if any(not question.step for question in state.open_questions) and not works:
        return None  # a question already holds the whole task, and no run is left to end
    if Measure.TIME in state.warned and _is_done(state):
        return None
    share = 1.0 if Measure.TIME in state.warned else WARNS
    moment = worked.since + share * budget.time - worked.time
    # Reached already without effect: nothing is left to do, or another question holds the task.
    return None if _reached(state, budget, Measure.TIME, worked.since, share) else moment


def crosses_limit(state: PMState, limits: Limits, run: str, usage: Usage) -> bool:
    """Return whether a run's usage takes the task across 80 % or 100 % of a limit."""
    budget, before = budget_of(state, limits), state.runs.usage
    after = before + usage.since(state.runs[run].usage)
    for most, was, now in (
        (budget.tokens, before.tokens, after.tokens),
        (budget.cost, before.dollars or 0.0, after.dollars or 0.0),
    ):
        if most is not None and any(was < share * most <= now for share in (WARNS, 1.0)):
            return True
    return False


def _is_done(state: PMState) -> bool:
    """Return whether no step is left that would use more."""
    return state.steps.first(state.steps.unsettled) is None


def _stop(draft: Draft, measure: Measure, most: float) -> None:
    for run in draft.state.live_runs:
        if run.reported_at is None:
            end_run(draft, run, Ending.BUDGET)
    raised = said(measure, _doubled(draft, measure, most))
    text = (
        f"{draft.state.name} has used {_of(draft, measure, most)}: {DOUBLE} it (up to {raised}), {CONTINUE} without "
        f"such a limit, or {ABANDON}? Another amount will do too, like {_LIKE[measure]}. Its agents are ended; what "
        "they were at is kept, and goes on from there."
    )
    ask(draft, "", text, (DOUBLE, CONTINUE, ABANDON), QuestionKind.BUDGET, measure=measure)


def _of(draft: Draft, measure: Measure, most: float) -> str:
    """Return how much of a limit was used, as far as known; for an estimated cost, also how it was estimated."""
    usage = draft.state.runs.usage
    if measure is not Measure.COST:
        return f"{said(measure, used(draft.state, measure, draft.at))} of {said(measure, most)}"
    how = prices_said(usage.prices if usage.estimate else "", draft.at, usage.unpriced)
    text = f"{cost_said(usage.cost, usage.estimate)} of {money_said(most)}"
    return f"{text} ({how})" if how else text


def _doubled(draft: Draft, measure: Measure, most: float) -> float:
    """Return the smallest multiple of a limit, at least double, that leaves something to use."""
    times = int(used(draft.state, measure, draft.at) // most) + 1
    return most * max(times, 2)


def _reached(state: PMState, budget: Budget, measure: Measure, at: float, share: float) -> bool:
    most = budget.of(measure)
    slack = _INSTANT if measure is Measure.TIME else 0.0
    return most is not None and used(state, measure, at) >= share * most - slack
