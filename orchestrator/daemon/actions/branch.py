"""See that the task's branch is where the PM left it: anybody who works in the repository can move it.

All actions that move the branch are carried out one after the other, in the order in which they were decided. So the
state that an action is given knows of every commit that the PM may have put on the branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.actions import Merge
from orchestrator.model.errors import Refused
from orchestrator.model.facts import BranchTended
from orchestrator.pm.state.results import accepted_work
from orchestrator.ports.workspaces import BranchFound

if TYPE_CHECKING:
    from orchestrator.daemon.core.task_paths import TaskPaths
    from orchestrator.model.actions import TendBranch
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.workspaces import Workspaces


def tend(
    workspaces: Workspaces, state: PMState, action: TendBranch, where: TaskPaths, at: float
) -> BranchTended:
    """Let the branch stand on the last accepted commit, and report where it was.

    It is not behind where the PM left it, also if the step that had it merged was reopened since.

    Raises:
        Unavailable: git cannot do it now.
        OSError: the disk cannot do it now.

    """
    accepted = tuple(accepted_work(state).values())
    if accepted and state.tip:
        accepted = (*accepted, state.tip)
    try:
        # Where nothing is accepted yet, it may have begun upon the work of a task that no journal knows any more.
        begun = state.tip or state.base
        found = workspaces.restore(where.code, state.branch, begun, accepted, _just_merged(state))
    except Refused as error:
        found = BranchFound("", "", reason=str(error) or "unknown")
    return BranchTended(
        at, action.id, action.step, action.attempt, found.tip, found.wanted, found.kept, found.reason
    )


def restored_before(workspaces: Workspaces, state: PMState, action: Merge, where: TaskPaths) -> BranchFound:
    """Let the branch stand where the PM left it before it is moved forward: a merge brings nothing else.

    Raises:
        Refused: git rejects it.
        Unavailable: git cannot do it now.
        OSError: the disk cannot do it now.

    """
    known = _just_merged(state, but=action.id)
    if state.tip:
        return workspaces.restore(where.code, state.branch, state.base, (state.tip,), known)
    # Begun by a version that did not note where it left the branch, or nothing was merged yet.
    accepted = tuple(accepted_work(state).values())
    known |= {step.commit for step in state.steps.values() if step.commit and accepted}
    return workspaces.restore(where.code, state.branch, state.base, accepted, known)


def _just_merged(state: PMState, but: str = "") -> set[str]:
    """Return the commits onto which the branch is being moved just now."""
    return {each.commit for each in state.outbox.values() if isinstance(each, Merge) and each.id != but}
