"""What a run of a phase of a composite skill finds in its project: what the phases before it handed in, as they did."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.daemon.core.memory_files import MemoryFolder, kept_copy, set_aside
from orchestrator.model.composite import MEMORY_FOLDER, agent_memory_file, context_file
from orchestrator.pm.plan.composite.driven import handed_in
from orchestrator.pm.plan.families.skills import phase_of

if TYPE_CHECKING:
    from orchestrator.daemon.core.task_paths import TaskPaths
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)


def prepare_phase(files: Files, where: TaskPaths, state: PMState, run: Run) -> tuple[str, ...]:
    """Make the memory files ready for a run, and return those that were put back. Repeatable until the run lives.

    A complete memory file of this agent that lies there already is not this run's: it is renamed. What the agent reads
    is put back to what was handed in.

    Raises:
        Unreadable: a folder on the way is a link.
        OSError: the disk cannot do it now.

    """
    plan, phase = state.brief.skill, phase_of(state.brief, state.steps[run.step])
    if plan is None or phase is None:
        return ()
    folder = MemoryFolder(files, Path(state.project))
    folder.make(MEMORY_FOLDER)
    set_aside(folder, plan.task_id, phase, f"before-{run.id}")
    read = {agent_memory_file(plan.task_id, agent): agent for agent in plan.skill.readable(phase)}
    wanted = {path: handed_in(plan, state, agent) for path, agent in read.items()}
    put_back = list[str]()
    for path, digest in (wanted | {context_file(plan.task_id): plan.context}).items():
        data = kept_copy(files, where.home, folder, path, digest) if digest else None
        if data is None:
            log.warning("%s is not there any more as it was handed in", path)
        elif folder.restore(path, data):
            put_back.append(path)
    return tuple(put_back)
