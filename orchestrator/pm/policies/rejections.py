"""Rejections: rejected work is done again with the feedback, up to the bound; then as task.md says (H9)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import StepState
from orchestrator.model.task import AfterRejections
from orchestrator.pm.plan.plan_edits import planner, plans_a_line
from orchestrator.pm.policies.reopen import (
    feed,
    first_line,
    may_replan,
    parted_at_first,
    plan_line_anew,
    reopen,
    replan,
    set_aside,
)

if TYPE_CHECKING:
    from orchestrator.pm.state.draft import Draft
from orchestrator.pm.policies.retries import block, count, since_answer, with_replan

LINES_SHOWN: Final = 8
"""How many further lines of a judge's feedback a question shows."""

THE_PM: Final = "PM"
"""Who rejects work that could not be committed or merged; no judge has objected to it."""


def plan_more(draft: Draft, why: str) -> bool:
    """Plan what is still missing after everything planned is done. Return whether that is allowed.

    Allowed up to `limits.max_replans` times, and not if task.md wants a question instead (`rejections: ask`).
    """
    plan = planner(draft.state)
    if (
        plan is None
        or plan.state is not StepState.PASSED
        or plan.tally.replans >= draft.limits.max_replans
        or draft.state.brief.config.after_rejections is not AfterRejections.REPLAN
    ):
        return False
    if plans_a_line(plan):
        plan_line_anew(draft, plan, f"The task is not done: {why}")
        return True
    count(draft, plan.id, replace(plan.tally, replans=plan.tally.replans + 1))
    feed(
        draft,
        plan.id,
        f"All that was planned is settled, and the task is not done: {why}. List the subtasks that are still needed, "
        f"with new ids. What is done stays done.",
    )
    reopen(draft, plan.id, f"more is to be planned: {first_line(why)}")
    return True


def reject(draft: Draft, judge: str, feedback: str, *, by: str = "", carries: bool = True) -> None:
    """Reject a step on behalf of a judge: the judged step is done again with the feedback, up to the bound (H9).

    `by` is who rejects, if not the judge: `PM`, if the work could not be committed or merged.
    `carries`: the next attempt continues the work and the conversation of the last one; False if the work is lost.
    """
    by = by or judge
    step = draft.step(judge).judges or judge
    here = draft.step(step)
    count(draft, step, replace(here.tally, rejections=here.tally.rejections + 1))
    feed(draft, step, f"Rejected by {by}: {feedback}")
    most = draft.limits_of(step).max_rejections
    if here.tally.rejections + 1 < most:
        reopen(draft, step, f"rejected by {by}: {first_line(feedback)}", carries=carries)
        return
    since = since_answer(draft, step) or _after_replans(draft)
    times = "once" if most == 1 else f"{most} times"
    why = f"rejected {times}{since}, last: {first_line(feedback)}"
    rejected_for_good(draft, step, why, feedback, carries=carries)


def _after_replans(draft: Draft) -> str:
    """Say how often the plan was made anew: a step of the new plan is counted from nothing."""
    plan = planner(draft.state)
    replans = 0 if plan is None else plan.tally.replans
    return f" after {replans} replan{'s' * (replans != 1)}" if replans else ""


def rejected_for_good(draft: Draft, step: str, why: str, feedback: str = "", *, carries: bool = True) -> None:
    """Act on work that was rejected as often as the bound allows, as task.md's `rejections:` says.

    `feedback` and `carries` are those of `reject`.
    """
    here = draft.step(step)
    policy = draft.state.brief.config.after_rejections
    if policy is AfterRejections.SET_ASIDE:
        set_aside(draft, step, why)
    elif policy is AfterRejections.REPLAN and may_replan(draft, step):
        replan(draft, step, why)
    else:
        reopen(draft, step, why, carries=carries)
        block(draft, step, f"'{here.title}' was {why}{rest_of(feedback)}", with_replan(draft, step))


def rest_of(feedback: str) -> str:
    """Return a judge's feedback after its first line."""
    lines = parted_at_first(feedback)[1]
    return "".join(f"\n    {line}" for line in lines[:LINES_SHOWN])
