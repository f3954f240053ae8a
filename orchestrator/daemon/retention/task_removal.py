"""Tasks that their user deletes or archives: the daemon lets go of them first, and never opens one again.

A mark in a task's own folder says so. It is written before anything is taken away, and goes with the folder, last of
all: whoever was killed half-way finds it, and goes on.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from orchestrator import layout
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
    """Mark a task as one that nobody is to open any more. `why` is `delete` or `archive`. Raises OSError."""
    files.write(layout.task_leaving(home), json.dumps({"why": why, "at": at}).encode())


def let_go(context: Context, task: Task, why: str) -> str:
    """Close a task for ever, and return what to say to its user.

    Raises:
        Refused: it does not rest, or something of it is still being done.
        OSError: the disk does not take the mark.

    """
    name = task.engine.state.name or task.id
    if task.begun and not task.rests:
        raise Refused(f"{name} is {task.engine.state.state}: `task stop {name}` first")
    if task.doing.busy:
        raise Refused(f"something of {name} is still being done: try again in a moment")
    write_mark(context.adapters.files, task.home, why, context.clock.now())
    task.let_go()
    return f"the daemon has let go of {name}"
