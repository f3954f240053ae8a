"""`task undo`: the file operations of a step of a stopped or ended task are reversed, and the step counts as not done.

The files are reversed first. Once that is known to be done, the step and all that depends on it are opened again; the
next start does them anew. A step that was given up stays so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.actions import Rebase, Undo
from orchestrator.model.plan import StepState
from orchestrator.pm.handlers.rebasing import SHORT, acceptances, rest
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.plan.consultations import is_consultation
from orchestrator.pm.policies.operations import applied_runs
from orchestrator.pm.policies.reopen import feed, reopen
from orchestrator.pm.state.changes import (
    BranchPlaced,
    CriteriaMarked,
    OperationsUndone,
    RequestAcknowledged,
)

if TYPE_CHECKING:
    from orchestrator.model.facts import UndoAsked, Undone
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


def undo_asked(draft: Draft, fact: UndoAsked) -> None:
    """Have the file operations of a step reversed, if nobody works on the task."""
    draft.change(RequestAcknowledged(fact.request))
    if why := _against(draft.state, fact):
        draft.reply, draft.refused = why, True
        return
    last = applied_runs(draft.state, fact.step)[-1]
    draft.act(Undo(draft.new_id("a"), fact.step, last, fact.old, fact.new))
    draft.reply = f"the file operations of {fact.step} are being undone"


def undone(draft: Draft, fact: Undone) -> None:
    """Handle the outcome: the step is opened again, or the files are as they were."""
    action = draft.state.outbox.get(fact.action)
    if not isinstance(action, Undo):
        return
    draft.close_actions(Undo, id=fact.action)
    step = action.step
    if fact.reason:
        draft.notice(f"the file operations of {step} were not undone: {fact.reason}")
        return
    if action.new:
        draft.change(BranchPlaced(action.new))
    runs = applied_runs(draft.state, step) if action.new else (action.run,)
    draft.change(OperationsUndone(runs, draft.at))
    draft.notice(f"the file operations of {step} were undone")
    if draft.step(step).state is not StepState.SET_ASIDE:
        _open_again(draft, step)


def _open_again(draft: Draft, step: str) -> None:
    why = f"the file operations of {step} were undone"
    again = [judge.id for judge in acceptances(draft.state)]
    if not is_consultation(draft.step(step)):  # that is over: there is no news to decide on
        feed(
            draft,
            step,
            "The user reversed what you changed the last time. It is to be done again, in another way.",
        )
        again.insert(0, step)
    for each in dict.fromkeys(again):
        reopen(draft, each, why)
    if draft.state.criteria:
        draft.change(CriteriaMarked(()))
    if draft.state.state not in ACTIVE:
        rest(draft, f"{why}; the next start does it again, and what depends on it")


def _against(state: PMState, fact: UndoAsked) -> str:
    """Return why nothing can be undone now; empty if it can."""
    if state.state in ACTIVE or state.live_runs:
        return f"{state.name} is {state.state}: `task stop {state.id}` first"
    if any(isinstance(action, Rebase | Undo) for action in state.outbox.values()):
        return f"{state.name} is being rebased, or a step of it undone, already"
    if not applied_runs(state, fact.step):
        return f"{fact.step} has no file operations that could be undone"
    if fact.new and state.tip and fact.old != state.tip:
        return (
            f"{state.branch} is at {fact.old[:SHORT]}, and the PM left it at {state.tip[:SHORT]}: put it back there "
            "first"
        )
    return ""
