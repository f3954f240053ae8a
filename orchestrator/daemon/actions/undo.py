"""Reverse the file operations of a step: on the task's branch, or on disk. May be repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.model.errors import Refused
from orchestrator.model.facts import Undone
from orchestrator.workspaces.operations.settle import last_transaction
from orchestrator.workspaces.operations.transaction import undo_once

if TYPE_CHECKING:
    from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
    from orchestrator.model.actions import Undo
    from orchestrator.pm.state.task_state import PMState

NOT_KEPT = "what was there before is not kept any more"


def undo(adapters: Adapters, state: PMState, action: Undo, where: TaskPaths, at: float) -> Undone:
    """Move the task's branch to the commit that reverses a step's, or put back what a run changed on disk.

    The outcome says why not, if it fails: nothing was changed then, but for files that somebody changed meanwhile.

    Raises:
        Unavailable: git cannot do it now.
        OSError: the disk cannot do it now.

    """
    try:
        if action.new:
            reason = adapters.workspaces.rebase(where.code, state.branch, action.old, action.new)
            return Undone(at, action.id, reason)
        folder = last_transaction(adapters.files, layout.run_home(where.home, action.run))
        if folder is None:
            return Undone(at, action.id, NOT_KEPT)
        undo_once(adapters.files, folder)
    except Refused as error:
        return Undone(at, action.id, str(error) or "unknown")
    return Undone(at, action.id)
