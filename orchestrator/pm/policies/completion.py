"""The last gates of a step: its work is committed, and the step passes. `merging` brings it onto the branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Commit, Inspect
from orchestrator.model.plan import Gate, StepState
from orchestrator.pm.policies.conflicts import at_odds, conflicted, listed
from orchestrator.pm.policies.gates import held_by
from orchestrator.pm.policies.gates.kind import awaited
from orchestrator.pm.policies.retries import THE_PM, block, reject, rejected_for_good, written_again
from orchestrator.pm.policies.vanished_trees import commit_found_no_tree
from orchestrator.pm.state.step_changes import StepApproved, StepCommitted, StepInspected, StepMoved

if TYPE_CHECKING:
    from orchestrator.model.facts import WorkCommitted, WorkInspected
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


NAMED: Final = 5
"""How many files a message names that a step changed although it was only to look."""

_NOTHING_CHANGED: Final = (
    "it says that the work is done, and nothing was changed in its working directory. Do the work; or, if nothing has "
    "to be changed, say why under `## No Changes`"
)


def review_asked_by(state: PMState, step: str) -> Step | None:
    """Return the review that a step's own report asked for, or None.

    Judges in the plan wait until the step that they judge has passed. This one needs nothing: it judges while the step
    is being checked.
    """
    judges = state.steps.among(state.steps.judges_of(step))
    return next((judge for judge in judges if not judge.needs), None)


def go_through(draft: Draft, step: str, *, past: str = "") -> None:
    """Take a step through its gates. `past` names a gate that is known to hold, as are those before it."""
    here = draft.step(step)
    gate = held_by(draft.state, here, past=past)
    if gate is None:
        pass_step(draft, step)
    else:
        gate.order(draft, step)


def approve(draft: Draft, step: str) -> None:
    """Record the user's approval of a step's work, and take the step through its remaining gates."""
    draft.change(StepApproved(step))
    go_through(draft, step)


def pass_step(draft: Draft, step: str) -> None:
    """Let a step pass, and with it the step whose review it was."""
    draft.change(StepMoved(step, StepState.PASSED, draft.at))
    judged_step = draft.step(step).judges
    if judged_step and draft.step(judged_step).state is StepState.CHECKING:
        go_through(draft, judged_step)


def work_committed(draft: Draft, fact: WorkCommitted) -> None:
    """Handle the outcome of a commit: there is one, there was nothing to commit, or it failed."""
    asked = draft.close_actions(Commit, step=fact.step, attempt=fact.attempt)
    if not (asked and awaited(draft, fact.step, fact.attempt)):
        return
    if fact.lost:
        commit_found_no_tree(draft, fact)
        return
    if fact.reason:
        block(draft, fact.step, f"the work of {fact.step} could not be committed: {fact.reason}")
        return
    if fact.unresolved:
        _resolve_first(draft, fact)
        return
    if fact.conflicts:
        draft.change(StepCommitted(fact.step, fact.commit))
        conflicted(draft, fact.step, at_odds(fact.conflicts, fact.others))
        return
    if fact.left:
        reject(draft, fact.step, _uncommitted(fact.left), by=THE_PM)
        return
    if fact.commit:
        draft.change(StepCommitted(fact.step, fact.commit))
        go_through(draft, fact.step)
    else:
        _unchanged(draft, fact.step, Gate.COMMIT)


def _resolve_first(draft: Draft, fact: WorkCommitted) -> None:
    """Have an agent remove the conflict markers that it left; counts as rejected if it repeatedly does not."""
    why = f"conflict markers are left in {listed(fact.unresolved)}: decide what is to stand there, and remove them"
    if not written_again(draft, fact.step, why):
        reject(draft, fact.step, why, by=THE_PM)


def work_inspected(draft: Draft, fact: WorkInspected) -> None:
    """Handle whether a step changed anything in a tree that is not the task's own, as far as that can be known."""
    asked = draft.close_actions(Inspect, step=fact.step, attempt=fact.attempt)
    if Gate.CHANGED not in draft.step(fact.step).gates:
        if asked:
            _looked_on(draft, fact)
        return
    if not (asked and awaited(draft, fact.step, fact.attempt)):
        return
    if fact.reason:
        text = f"could not determine whether {fact.step} changed anything in {fact.where}: {fact.reason}"
        block(draft, fact.step, text)
        return
    if fact.changed is None:
        draft.notice(f"whether {fact.step} changed anything is not known: {fact.where} is no git repository")
    if fact.changed is False:
        _unchanged(draft, fact.step, Gate.CHANGED)
    else:
        draft.change(StepInspected(fact.step, fact.where))
        go_through(draft, fact.step)


def _looked_on(draft: Draft, fact: WorkInspected) -> None:
    """Report what a step changed in its tree although it was only to look. The tree was restored."""
    if fact.reason:
        draft.notice(f"could not determine whether {fact.step} changed anything in its tree: {fact.reason}")
    if fact.files:
        named = ", ".join(f"{name!a}" for name in fact.files[:NAMED])
        more = f" and {len(fact.files) - NAMED} more" if len(fact.files) > NAMED else ""
        kept = f"; they are kept as {fact.kept}" if fact.kept else ""
        draft.notice(
            f"{fact.step} was only to look, and changed {named}{more}: these changes come into no commit{kept}"
        )


def _unchanged(draft: Draft, step: str, gate: Gate) -> None:
    """Let a step pass that changed nothing, if its report says why; its judges see the reason, and judge it.

    One that repeatedly claims to be done, and changes nothing, counts as rejected.
    """
    if draft.step(step).unchanged:
        draft.notice(f"{step} changed nothing: {draft.step(step).unchanged}")
        go_through(draft, step, past=gate)
    elif not written_again(draft, step, _NOTHING_CHANGED):
        rejected_for_good(draft, step, "reported as done without any change, even when asked again")


def _uncommitted(left: str) -> str:
    """Return feedback that also helps an agent that had nothing to change, beside what others left uncommitted."""
    return (
        f"nothing new was committed, and work lies uncommitted in {left}: commit what is yours, and leave alone what "
        f"is another's. If nothing was to be changed, say so by an empty commit."
    )
