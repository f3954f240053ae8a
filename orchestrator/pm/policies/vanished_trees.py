"""Worktrees that vanish: removed by hand, by another agent, by a clean-up.

::

    vanished during a run ─▶ the run is ended, and its step begins again in a new tree
    vanished before its commit ─▶ what was found is kept on a ref; rejected: the next attempt is informed
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending
from orchestrator.pm.plan.advance import end_run
from orchestrator.pm.plan.asking import ask
from orchestrator.pm.policies.rejections import THE_PM, reject
from orchestrator.pm.policies.reopen import feed
from orchestrator.pm.policies.retries import rested_at
from orchestrator.pm.state.step_changes import StepMoved, StepTallied

if TYPE_CHECKING:
    from orchestrator.model.facts import LaunchFailed, TreeVanished, WorkCommitted
    from orchestrator.pm.state.draft import Draft


def tree_vanished(draft: Draft, fact: TreeVanished) -> None:
    """End a run whose worktree is gone: nobody can find its work any more. A run that has reported is left alone."""
    run = draft.state.runs.get(fact.run)
    if run is None or not run.live or run.reported_at is not None or run.ending is not Ending.NOT:
        return
    draft.notice(f"{run.instance} lost its worktree: {fact.reason}. It begins again in a new one")
    _inform_next_run(draft, run.step, fact.reason)
    end_run(draft, run, Ending.TREE_LOST)


def begin_again(draft: Draft, step: str, how: str) -> None:
    """Begin a step again in a new tree, up to the bound on lost terminals; then ask."""
    here = draft.step(step)
    losses = here.tally.losses + 1
    draft.change(StepTallied(step, replace(here.tally, losses=losses)))
    if losses > draft.limits_of(step).max_losses:
        draft.change(StepMoved(step, StepState.FAILED, draft.at, how, anew=True))
        ask(
            draft,
            step,
            f"the worktree of {here.agent} vanished on '{here.title}', {losses} times by now: {how}",
        )
    else:
        later = rested_at(draft, losses)
        draft.change(StepMoved(step, StepState.PENDING, draft.at, how, not_before=later, anew=True))


def launched_without_a_tree(draft: Draft, fact: LaunchFailed, step: str) -> None:
    """Handle a run that was to continue in a tree that is gone: the work is done again, in a new tree."""
    here = draft.step(step)
    draft.notice(f"{here.agent} cannot go on with '{here.title}': {fact.reason}")
    if here.judges:
        reject(draft, step, f"{fact.reason}. Do it again", by=THE_PM, carries=False)
    else:
        _inform_next_run(draft, step, fact.reason)
        begin_again(draft, step, fact.reason)


def commit_found_no_tree(draft: Draft, fact: WorkCommitted) -> None:
    """Handle work whose tree vanished before the commit: the agent does it again, and is shown what was kept."""
    here = draft.step(fact.step)
    found = f" What was found there is kept as {fact.kept}." if fact.kept else ""
    draft.notice(f"the work of {fact.step} was not committed: {fact.lost}.{found}")
    again = f"{fact.lost}, so that the work cannot be taken.{found} Do it again, in the worktree that you work in now."
    reject(draft, here.id, again, by=THE_PM, carries=False)


def _inform_next_run(draft: Draft, step: str, reason: str) -> None:
    here = draft.step(step)
    kept = f"refs/tasks/{draft.state.branch}/{here.workspace}/"
    feed(
        draft,
        step,
        f"The worktree of the last try vanished while it worked ({reason}). Begin again in this one. What was found of "
        f"it, if anything, is on refs that begin with {kept} (`git for-each-ref {kept}`).",
    )
