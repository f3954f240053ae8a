"""Commit a step's work and move the task's branch forward. Both may be repeated.

If git cannot do it now, they raise, and are retried later: neither is the step's fault.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from orchestrator.daemon.actions.branch import restored_before, tend
from orchestrator.daemon.actions.check_changes import of_commit
from orchestrator.daemon.actions.undo import undo
from orchestrator.daemon.core.task_paths import Adapters, TaskPaths, tree_of
from orchestrator.model.actions import Commit, Inspect, Merge, Rebase, ResolveEvidence, TendBranch, Undo
from orchestrator.model.errors import Refused
from orchestrator.model.facts import (
    BranchTended,
    EvidenceResolved,
    Rebased,
    Undone,
    WorkCommitted,
    WorkInspected,
    WorkMerged,
)
from orchestrator.model.plan import Gate
from orchestrator.pm.plan.work_location import location_of
from orchestrator.ports.workspaces import LeftOut
from orchestrator.ports.worktree import AtOdds, TreeLost, Unresolved

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.model.task import Location
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.workspaces import Workspaces
    from orchestrator.ports.worktree import Tree

OfAStep: TypeAlias = Commit | Inspect | ResolveEvidence | Merge
"""The actions that take a step through its gate. Each may be repeated, and is given up if it never succeeds."""

OfTheBranch: TypeAlias = Merge | TendBranch | Rebase | Undo
"""The actions that move the task's branch: one after the other, in the order in which they were decided."""

OfGit: TypeAlias = OfAStep | OfTheBranch
"""All actions that read or change what git has."""

NAMED: Final = 5
"""How many of each kind of what is in no commit are named."""

SUBJECT: Final = 72
"""The maximum length of a commit's first line: what `git log --oneline` shows in a terminal."""


def commit(adapters: Adapters, state: PMState, action: Commit, where: TaskPaths, at: float) -> WorkCommitted:
    """Commit what a step's agent left in its tree, or fetch what it committed on its box; return the commit.

    Raises:
        Unavailable: git, or the box, cannot do it now.
        OSError: the disk cannot do it now.

    """
    step, tree = state.steps[action.step], _tree(state, action.step, where)
    about = f"Subtask {step.subtask or step.id}, attempt {state.runs.tries(step.id)}."
    place, left, apart = location_of(state.brief.config, step.agent), "", LeftOut()
    try:
        if place is not None and place.host:
            made, files = _brought(adapters, step, place, tree)
            is_news = made not in {"", step.last_commit}
            if not is_news and adapters.boxes.uncommitted(place.host, place.path):
                left = f"{place.host}:{place.path}"
        else:
            text = message(f"{state.name}: {step.title}", about)
            made, files = adapters.workspaces.commit(tree, text, attempt=step.attempt)
            apart = adapters.workspaces.left_out(tree)
    except TreeLost as lost:
        return WorkCommitted(
            at, action.id, action.step, action.attempt, "", lost=str(lost.reason) or "unknown", kept=lost.kept
        )
    except AtOdds as odds:
        return WorkCommitted(
            at, action.id, action.step, action.attempt, odds.commit, conflicts=odds.files, others=odds.others
        )
    except Unresolved as error:
        return WorkCommitted(at, action.id, action.step, action.attempt, "", unresolved=error.files)
    except Refused as error:
        return WorkCommitted(at, action.id, action.step, action.attempt, "", reason=str(error) or "unknown")
    done = WorkCommitted(at, action.id, action.step, action.attempt, made, files, left=left)
    done = replace(done, repositories=apart.repositories[:NAMED], ignored=apart.ignored[:NAMED])
    if not made:
        return replace(done, submodules=apart.submodules[:NAMED])
    return replace(done, check_files=of_commit(adapters.workspaces, state, made, where))


def bring_judged(adapters: Adapters, state: PMState, step: Step, tree: Tree) -> None:
    """Fetch the work that a step judges from its box, if it was handed in for review before its commit.

    Raises as `commit` does; and Refused: git rejects it.
    """
    judged = state.steps.get(step.judges)
    if judged is not None and (place := judged_elsewhere(state, step)) is not None:
        _brought(adapters, judged, place, tree)


def judged_elsewhere(state: PMState, step: Step) -> Location | None:
    """Return the location on a box from which judged work must still be fetched; None if there is none."""
    judged = state.steps.get(step.judges)
    if judged is None or judged.commit or Gate.COMMIT not in judged.gates:
        return None
    place = location_of(state.brief.config, judged.agent)
    return place if place is not None and place.host else None


def _brought(adapters: Adapters, step: Step, place: Location, tree: Tree) -> tuple[str, int]:
    """Fetch what an agent committed on its box into its tree here; return the commit, if it is new, and its files."""
    brought = adapters.boxes.bring(place.host, place.path, tree.project, f"{tree.keep_prefix}brought")
    return adapters.workspaces.adopt(tree, step.attempt, brought)


def message(title: str, about: str) -> str:
    """Return a commit's message; a title too long for the first line is repeated in full below it."""
    if len(title) <= SUBJECT:
        return f"{title}\n\n{about}"
    return f"{title[: SUBJECT - 1].rstrip()}…\n\n{title}\n\n{about}"


def moved(
    adapters: Adapters, state: PMState, action: OfTheBranch, where: TaskPaths, at: float
) -> BranchTended | WorkMerged | Rebased | Undone:
    """Carry out an action that moves the task's branch. Raises as each of them."""
    workspaces = adapters.workspaces
    match action:
        case Undo():
            return undo(adapters, state, action, where, at)
        case TendBranch():
            return tend(workspaces, state, action, where, at)
        case Merge():
            return merge(workspaces, state, action, where, at)
        case Rebase():
            return rebase(workspaces, state, action, where, at)


def merge(workspaces: Workspaces, state: PMState, action: Merge, where: TaskPaths, at: float) -> WorkMerged:
    """Move the task's branch forward to a step's commit, or put that upon what the branch has gained meanwhile.

    In the second case the branch is left as it is: what came of it may have to be tested first.

    What somebody else put on the branch is taken off it first, and is not brought by a commit that was made upon it.

    Raises:
        Unavailable: git cannot do it now.
        OSError: the disk cannot do it now.

    """
    outcome = WorkMerged(at, action.id, action.step, action.attempt, action.commit)
    alone = not _is_brought(state, action.step)
    try:
        found = restored_before(workspaces, state, action, where)
        outcome = replace(outcome, astray=found.tip if found.tip != found.wanted else "", kept=found.kept)
        if found.reason:
            return replace(outcome, reason=found.reason)
        tree = _tree(state, action.step, where)
        onto = workspaces.gained(tree, action.commit, alone=alone)
        if onto and action.forward_only:
            return replace(outcome, commit="", onto=onto)
        if onto:
            made = workspaces.put_upon(tree, action.attempt, action.commit, alone=alone)
            return replace(
                outcome,
                commit=made.commit,
                onto=made.onto,
                both=made.both,
                same=made.same,
                others=made.others,
            )
        held = workspaces.holds(tree, action.commit)
        reason = workspaces.merge(tree, action.commit, alone=alone)
    except AtOdds as odds:
        return replace(outcome, conflicts=odds.files, others=odds.others)
    except Refused as error:
        return replace(outcome, reason=str(error) or "unknown")
    tip = found.wanted if held else action.commit
    return replace(outcome, reason=reason, tip="" if reason else tip)


def _is_brought(state: PMState, step: str) -> bool:
    """Return whether the work that a step merges comes from a box: with all commits that its agent made there."""
    here = state.steps[step]
    place = location_of(state.brief.config, state.steps[here.judges].agent if here.judges else here.agent)
    return place is not None and bool(place.host)


def rebase(workspaces: Workspaces, state: PMState, action: Rebase, where: TaskPaths, at: float) -> Rebased:
    """Move the task's branch to its work, rebuilt on another commit; the outcome says why not, if it fails.

    Raises:
        Unavailable: git cannot do it now.
        OSError: the disk cannot do it now.

    """
    try:
        reason = workspaces.rebase(where.code, state.branch, action.old, action.new)
    except Refused as error:
        reason = str(error) or "unknown"
    return Rebased(at, action.id, reason)


def given_up(
    action: OfGit, at: float, reason: str
) -> WorkCommitted | WorkInspected | EvidenceResolved | BranchTended | WorkMerged | Rebased | Undone:
    """Return the outcome of an action that could not be done for too long."""
    match action:
        case Inspect():
            return WorkInspected(at, action.id, action.step, action.attempt, reason=reason)
        case ResolveEvidence():
            return EvidenceResolved(at, action.id, action.step, action.attempt, reason=reason)
        case Commit():
            return WorkCommitted(at, action.id, action.step, action.attempt, "", reason=reason)
        case Merge():
            return WorkMerged(at, action.id, action.step, action.attempt, action.commit, reason)
        case TendBranch():
            return BranchTended(at, action.id, action.step, action.attempt, reason=reason)
        case Rebase():
            return Rebased(at, action.id, reason)
        case Undo():
            return Undone(at, action.id, reason)


def _tree(state: PMState, step: str, where: TaskPaths) -> Tree:
    tree = tree_of(state, state.steps[step], where)
    assert tree is not None  # noqa: S101 (only steps with a tree of their own have these gates)
    return tree
