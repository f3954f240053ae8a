"""The last gates of a step: its work is committed, and the step passes. `merging` brings it onto the branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Commit, Inspect, Merge, ResolveEvidence, TendBranch
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.run import Purpose
from orchestrator.pm.plan.orders import changed_said
from orchestrator.pm.plan.work_location import is_judge, only_looks
from orchestrator.pm.policies.conflicts import at_odds, conflicted, listed
from orchestrator.pm.policies.gates import held_by
from orchestrator.pm.policies.gates.kind import awaited, begin_checking
from orchestrator.pm.policies.judgements import judge_again
from orchestrator.pm.policies.rejections import THE_PM, reject, rejected_for_good
from orchestrator.pm.policies.reopen import feed
from orchestrator.pm.policies.retries import block, written_again
from orchestrator.pm.policies.vanished_trees import commit_found_no_tree
from orchestrator.pm.state.step_changes import (
    StepApproved,
    StepCommitted,
    StepInspected,
    StepMoved,
    StepStrewed,
)

if TYPE_CHECKING:
    from orchestrator.model.facts import WorkCommitted, WorkInspected
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


STREWN_KEPT: Final = 20
"""How many files are kept of a step that changed them although it was only to look: the next orders name them."""

_NOTHING_CHANGED: Final = (
    "it says that the work is done, and nothing was changed in its working directory{apart}. Do the work; or, "
    "if nothing has to be changed, say why under `## No Changes`, in JSON as `unchanged` in `report`"
)


def review_asked_by(state: PMState, step: str) -> Step | None:
    """Return the review that a step's own report asked for, or None.

    Judges in the plan wait until the step that they judge has passed. This one needs nothing: it judges while the step
    is being checked.
    """
    judges = state.steps.among(state.steps.judges_of(step))
    return next((judge for judge in judges if not judge.needs), None)


def go_through(draft: Draft, step: str, *, past: str = "") -> None:
    """Take a step through its gates. `past` names a gate that is known to hold, as are those before it.

    A judge waits until it is known whether it changed anything itself, and then judges once more: its verdict may rest
    on that.
    """
    here = draft.step(step)
    if is_judge(here) and _is_looked_at(draft.state, here):
        begin_checking(draft, step, "it is looked whether it changed anything itself")
        return
    if is_judge(here) and here.strewn and judge_again(draft, step, _again(here)):
        draft.change(StepStrewed(step, ()))
        return
    through_gates(draft, step, past=past)


def through_gates(draft: Draft, step: str, *, past: str = "") -> None:
    """Take a step through its gates, whoever judged it. `past` is as for `go_through`."""
    gate = held_by(draft.state, draft.step(step), past=past)
    if gate is None:
        pass_step(draft, step)
    else:
        gate.order(draft, step)


def _is_looked_at(state: PMState, step: Step) -> bool:
    """Return whether a run of this attempt is still there, or its tree is being looked at, in which it only looks."""
    if not only_looks(state.brief.config, step):
        return False
    return any(
        run.step == step.id and run.attempt == step.attempt and run.purpose is Purpose.WORK
        for run in state.live_runs
    ) or any(
        isinstance(action, Inspect) and (action.step, action.attempt) == (step.id, step.attempt)
        for action in state.outbox.values()
    )


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
    if fact.repositories:
        _open_first(draft, fact)
        return
    if fact.left:
        reject(draft, fact.step, _uncommitted(fact.left), by=THE_PM)
        return
    if fact.commit:
        draft.change(StepCommitted(fact.step, fact.commit, fact.ignored, fact.check_files))
        go_through(draft, fact.step)
    else:
        _unchanged(draft, fact.step, Gate.COMMIT, _apart(fact))


def _open_first(draft: Draft, fact: WorkCommitted) -> None:
    """Have an agent dissolve the repositories that it made in its tree; counts as rejected if it repeatedly does not.

    Judges would see their files, and whoever merges the branch would not have them.
    """
    why = (
        f"no commit can hold the files in {listed(fact.repositories)}, because a git repository of its own was made "
        "there. Remove its `.git` folder, and its files count; or remove the folder, or have `.gitignore` name it, if "
        "it is no part of the work"
    )
    if not written_again(draft, fact.step, why):
        reject(draft, fact.step, why, by=THE_PM)


def _apart(fact: WorkCommitted) -> str:
    """Return what was perhaps changed although nothing was committed; empty if there is nothing of that kind."""
    said = []
    if fact.ignored:
        said.append(f"git ignores {listed(fact.ignored)}")
    if fact.submodules:
        said.append(f"what is changed inside of a submodule does not count, as in {listed(fact.submodules)}")
    return f" that a commit can hold ({'; '.join(said)})" if said else ""


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
        draft.notice(f"whether {fact.step} changed anything in {fact.where} is not known")
    if fact.changed is False:
        _unchanged(draft, fact.step, Gate.CHANGED)
    else:
        unknown = fact.changed is None
        draft.change(StepInspected(fact.step, fact.where, uncompared=unknown, check_files=fact.check_files))
        go_through(draft, fact.step)


def _looked_on(draft: Draft, fact: WorkInspected) -> None:
    """Handle what was changed while a step was only to look. A tree of the task was restored, others are left alone."""
    if fact.reason:
        draft.notice(f"could not determine whether {fact.step} changed anything in its tree: {fact.reason}")
    here, files = draft.step(fact.step), tuple(fact.files)
    if files:
        draft.notice(f"{fact.step} was only to look, and changed {changed_said(files, fact.kept)}")
    if files and here.attempt == fact.attempt:  # the orders of the judges that come next name it
        draft.change(StepStrewed(fact.step, files[:STREWN_KEPT], fact.kept))
    elif files and is_judge(here):
        _tell_what_a_verdict_rests_on(draft, fact)
    waits = awaited(draft, fact.step, fact.attempt) and is_judge(here)
    if waits and not _is_gated(draft.state, here):
        go_through(draft, fact.step)


def _is_gated(state: PMState, step: Step) -> bool:
    """Return whether a gate of a step waits for an action: its outcome takes the step on."""
    return any(
        isinstance(action, Commit | ResolveEvidence | TendBranch | Merge)
        and (action.step, action.attempt) == (step.id, step.attempt)
        for action in state.outbox.values()
    )


def _tell_what_a_verdict_rests_on(draft: Draft, fact: WorkInspected) -> None:
    """Tell those who work on after a rejection that the judge had changed something itself."""
    judged, said = draft.step(fact.step).judges, changed_said(fact.files, fact.kept)
    feed(
        draft,
        fact.step,
        f"The last time you were only to look, and changed {said}. Change nothing this time.",
    )
    if judged and draft.step(judged).state is StepState.PENDING:
        feed(draft, judged, f"When {fact.step} judged, it had changed {said}. Weigh by that what it found.")


def _again(step: Step) -> str:
    """Return why a judge is to judge again, and where."""
    lies = (
        "The tree lies again as it was handed in"
        if step.strewn_kept
        else "The PM takes nothing out of that folder: if the changes are yours, take them back; if not, leave them"
    )
    said = changed_said(step.strewn, step.strewn_kept)
    return f"You were only to look, and this was changed meanwhile: {said}. {lies}. Judge again, and change nothing."


def _unchanged(draft: Draft, step: str, gate: Gate, apart: str = "") -> None:
    """Let a step pass that changed nothing, if its report says why; its judges see the reason, and judge it.

    One that repeatedly claims to be done, and changes nothing, counts as rejected. `apart` says what does not count.
    """
    here = draft.step(step)
    if here.unchanged:
        if not {Gate.OUTPUTS, Gate.MEMORY} & set(
            here.gates
        ):  # what it was to leave is elsewhere, and is there
            draft.notice(f"{step} changed nothing: {here.unchanged}")
        go_through(draft, step, past=gate)
    elif not written_again(draft, step, _NOTHING_CHANGED.format(apart=apart)):
        why = f"reported as done without any change{apart}, even when asked again"
        rejected_for_good(draft, step, why)


def _uncommitted(left: str) -> str:
    """Return feedback that also helps an agent that had nothing to change, beside what others left uncommitted."""
    return (
        f"nothing new was committed, and work lies uncommitted in {left}: commit what is yours, and leave alone what "
        f"is another's. If nothing was to be changed, say so by an empty commit."
    )
