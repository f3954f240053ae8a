"""The memory files of a composite skill on a box: its agents there find and leave them in the task's folder (S4).

::

    before a run   workflow context, what the phase may read, what its own agent left so far ─▶ the box; whose they are
    turn over      its own memory file, as it was brought ─▶ the project, where it is read as that of an agent here

Of a box that was lost, what was brought last counts, if it is of this run.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.memory_files import MemoryFolder
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.formats.skill.memory import MEMORY_BYTES
from orchestrator.model.composite import agent_memory_file, context_file, name_of
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.composite import SkillPhase, SkillPlan
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

FOLDER: Final = "memory"
"""The folder of the memory files, below the folder of the task's files that are sent and brought."""

RUN_FILE: Final = f"{FOLDER}/run"
"""For which run they were sent. It sorts behind all others, and so it is sent behind them."""


def memory_folder(task: Path) -> Path:
    """Return the folder of the memory files on a box; `task` is the task's folder there."""
    return layout.orchestration(task) / FOLDER


def keep_memories(
    files: Files, project: Path, home: Path, run: str, plan: SkillPlan, phase: SkillPhase
) -> Path:
    """Keep the memory files as a run on a box is to find them, and return the folder to send.

    What an earlier run of this agent left on the box is replaced: by what was brought of it, or by nothing. `home` is
    the run's folder. Raises Unreadable, OSError.
    """
    here, sent = MemoryFolder(files, project), WorkflowFolder(files, home / "sent")
    files.make_folder(sent.task)
    read = [
        context_file(plan.task_id),
        *(agent_memory_file(plan.task_id, each) for each in plan.skill.readable(phase)),
    ]
    for path in read:
        if (data := here.memory(path)) is not None:
            sent.write(f"{FOLDER}/{name_of(path)}", data)
    own = agent_memory_file(plan.task_id, phase.agent)
    sent.write(f"{FOLDER}/{name_of(own)}", here.memory(own) or b"")
    sent.write(RUN_FILE, f"{run}\n".encode())
    return sent.task


def take_memory(files: Files, project: Path, brought: Path, run: str, path: str) -> None:
    """Write the memory file that a run left on its box into the project. Repeatable.

    Args:
        files: The files here.
        project: The project.
        brought: The folder in which the files of the box were brought.
        run: The run.
        path: Its memory file, beneath the project.

    Raises:
        Unreadable: a folder of the memory files here is a link.
        OSError: the disk cannot do it now.

    """
    there = WorkflowFolder(files, brought)
    try:
        if there.read(RUN_FILE).decode(errors="replace").strip() != run:
            return  # of an earlier run
        data = there.read(f"{FOLDER}/{name_of(path)}", MEMORY_BYTES)
    except Unreadable as error:
        log.warning("the memory file that run %s left on its box is not read: %s", run, error)
        return
    if data:
        MemoryFolder(files, project).write(path, data)
