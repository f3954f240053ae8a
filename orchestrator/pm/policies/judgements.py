"""Judgements that are repeated: what a judge saw was not what is to be judged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.model.plan import Gate, StepState
from orchestrator.pm.policies.reopen import feed, first_line
from orchestrator.pm.state.changes import CriteriaMarked
from orchestrator.pm.state.step_changes import StepMoved, StepTallied

if TYPE_CHECKING:
    from orchestrator.pm.state.draft import Draft


def judge_again(draft: Draft, step: str, why: str, *, clean: bool = False) -> bool:
    """Have a judge judge again, for this reason. Return False if `limits.max_repeated_judgements` is used up.

    It continues its conversation in its tree; with `clean` a new one begins in a tree at the tip of the branch.
    """
    here = draft.step(step)
    if here.tally.rejudged >= draft.limits_of(step).max_repeated_judgements:
        return False
    draft.change(StepTallied(step, replace(here.tally, rejudged=here.tally.rejudged + 1)))
    feed(draft, step, why)
    if Gate.CRITERIA in here.gates and draft.state.criteria:
        draft.change(CriteriaMarked(()))
    moved = StepMoved(
        step, StepState.PENDING, draft.at, f"judged again: {first_line(why)}", keep_tree=not clean
    )
    draft.change(moved)
    return True
