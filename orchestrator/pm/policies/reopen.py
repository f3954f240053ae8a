"""Ways back: a step is opened again with feedback, given up, or planned anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.formats.text import cut_at_word
from orchestrator.model.plan import StepState, Tally
from orchestrator.model.run import Ending
from orchestrator.pm.plan.acknowledgements import let_go
from orchestrator.pm.plan.advance import end_run
from orchestrator.pm.plan.asking import withdraw
from orchestrator.pm.plan.families import rules_of
from orchestrator.pm.plan.plan_edits import planner, plans_a_line
from orchestrator.pm.state.step_changes import StepFed, StepMoved, StepReopened, StepTallied

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft

FEEDBACK_KEPT: Final = 8
"""Older feedback is dropped: an order must stay readable."""


FIRST_LINE: Final = 200
"""How many characters of a reason's first line are shown."""


def feed(draft: Draft, step: str, text: str) -> None:
    """Add feedback to the next order of a step."""
    kept = (*draft.step(step).feedback, text.strip())[-FEEDBACK_KEPT:]
    draft.change(StepFed(step, kept))


def reopen(draft: Draft, step: str, why: str, *, carries: bool = False, queued: bool = False) -> None:
    """Begin the next attempt of a step. Every step that depends on it is done again from the beginning.

    Where a family follows versions, only its judges are.
    `carries`: this attempt continues the work and the conversation of the last one. `queued`: steps that wait to have
    work merged keep their place in the queue.
    """
    steps = draft.state.steps
    follows = rules_of(draft.state.brief).follows_versions
    with_it = steps.judges_of(step) if follows else steps.dependents(step)
    for each in (step, *(other.id for other in steps.among(with_it))):
        here = draft.step(each)
        if here.state not in {StepState.PENDING, StepState.SET_ASIDE} or each == step:
            overtake(draft, each)
            goes_on = carries and each == step
            again = StepReopened(each, here.attempt + 1, draft.at, why, carries=goes_on, queued=queued)
            draft.change(again)


def set_aside(draft: Draft, step: str, why: str, *, replaced: bool = False) -> None:
    """Give a step up with its whole subtask, the work that it judges, and its judges; everything else goes on.

    `replaced`: its goal is planned anew.
    """
    steps, here = draft.state.steps, draft.step(step)
    work = (
        here.judges if here.judges and here.needs else step
    )  # a review that a report asked for is given up alone
    mine = steps.mark(step) | steps.mark(work) | steps.judges_of(work) | steps.of_subtask(here.subtask)
    for each in steps.among(mine):
        if each.state is not StepState.SET_ASIDE:
            overtake(draft, each.id)
            draft.change(StepMoved(each.id, StepState.SET_ASIDE, draft.at, why, replaced=replaced))


def may_replan(draft: Draft, step: str) -> bool:
    """Return whether a step's subtask or line can be planned anew: there is a plan, and its bound is not reached."""
    plan = planner(draft.state)
    if plan is None or plan.tally.replans >= draft.limits.max_replans:
        return False
    steps = draft.state.steps
    in_line = plans_a_line(plan) and bool(steps.dependents(plan.id) & steps.mark(step))
    return in_line or bool(draft.step(step).subtask)


def plan_line_anew(draft: Draft, plan: Step, why: str, *, counts: bool = True) -> None:
    """Have a line of roles planned anew: all its steps are done again, and their counts begin anew.

    `counts`: whether it counts against the bound.
    """
    if counts:
        draft.change(StepTallied(plan.id, replace(plan.tally, replans=plan.tally.replans + 1)))
    feed(draft, plan.id, f"{why}\nPlan anew. What is on the task's branch stays.")
    for step in draft.state.steps.among(draft.state.steps.dependents(plan.id)):
        if step.tally != Tally():
            draft.change(StepTallied(step.id, Tally()))
    reopen(draft, plan.id, f"to be planned anew: {first_line(why)}")


def replan(draft: Draft, step: str, why: str, *, counts: bool = True) -> None:
    """Give a step's subtask up and have the rest planned anew (H9). Steps that were begun stay.

    Without a step that plans, this does nothing: ask `may_replan` first.

    `counts`: whether it counts against the bound. A person's request does not.
    """
    here, plan = draft.step(step), planner(draft.state)
    if plan is None:
        return
    learned = "".join(f"\n- {each}" for each in here.feedback[-3:])
    if plans_a_line(plan):
        feedback = f"\nFeedback on it:{learned}" if learned else ""
        plan_line_anew(draft, plan, f"{step} requires replanning: {why}{feedback}", counts=counts)
        return
    set_aside(draft, step, why, replaced=True)
    if counts:
        draft.change(StepTallied(plan.id, replace(plan.tally, replans=plan.tally.replans + 1)))
    feed(
        draft,
        plan.id,
        f"Subtask {here.subtask} ({here.title}) was given up: {why}. Plan what it was to reach in another way, with "
        f"new ids; what needed it and is still wanted must be listed again, and so must all that is not begun."
        + (f"\nFeedback on it:{learned}" if learned else ""),
    )
    reopen(draft, plan.id, f"subtask {here.subtask} is to be planned anew: {why}")


def first_line(text: str) -> str:
    """Return the first meaningful line of a text, cut between two words to a readable length.

    A line that only announces the next one (`its last lines:`) is joined with it.
    """
    return cut_at_word(" ".join(parted_at_first(text)[0]), FIRST_LINE)


def parted_at_first(text: str) -> tuple[list[str], list[str]]:
    """Return the lines of a text that make up its first statement, and all further lines."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no reason given"]
    first = 2 if lines[0].endswith(":") else 1
    return lines[:first], lines[first:]


def overtake(draft: Draft, step: str) -> None:
    """Drop the current attempt of a step: its questions, and its runs, whose work no longer counts.

    A run that has reported exits by itself.
    """
    withdraw(draft, step)
    for run in draft.runs_of(step):
        let_go(draft, run)
        if run.reported_at is None:
            end_run(draft, run, Ending.SUPERSEDED)
