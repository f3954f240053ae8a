"""Tasks that their user deletes or archives: the daemon closes them first, and never opens one again.

A mark in a task's own folder says so. It is written before anything is removed, and is removed with the folder, last of
all: if the command is killed half-way, the next one finds the mark and continues.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.boxes.departed_tasks import write_departed
from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.daemon.core.context import Context
    from orchestrator.daemon.task import Task
    from orchestrator.ports.files import Files


def leaves(files: Files, home: Path) -> bool:
    """Return whether the task with this folder is being deleted or archived."""
    return files.entry(layout.task_leaving(home)) is not None


def write_mark(files: Files, home: Path, why: str, at: float) -> None:
    """Mark a task as one that must not be opened any more. `why` is `delete` or `archive`. Raises OSError."""
    files.write(layout.task_leaving(home), json.dumps({"why": why, "at": at}).encode())


def let_go(context: Context, task: Task, why: str) -> str:
    """Close a task for good, and return the reply to its user.

    Raises:
        Refused: it does not rest, or work for it is still under way.
        OSError: the mark cannot be written.

    """
    name = task.engine.state.name or task.id
    if task.begun and not task.rests:
        raise Refused(f"{name} is {task.engine.state.state}: `task stop {task.id}` first")
    if task.doing.busy:
        raise Refused(f"work for {name} is still under way: try again in a moment")
    if not task.release():
        raise Refused(f"files of {name} are still coming from a box: try again in a moment")
    try:
        write_departed(context.adapters.files, context.state_folder, task.id, task.boxes_due)
        write_mark(context.adapters.files, task.home, why, context.clock.now())
    except OSError:
        task.keep_again()
        raise
    task.let_go()
    return f"the daemon has closed {name}"
