"""The memory files of a skill that the daemon drives: read with suspicion, and put back where they were changed.

What was handed in lies in the task's own folder, by its hash (`layout.task_reports`), where no agent writes.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.formats.skill.memory import MEMORY_BYTES, read_memory
from orchestrator.model.composite import agent_memory_file
from orchestrator.model.errors import BadFile
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from orchestrator.model.composite import SkillPhase
    from orchestrator.ports.files import Files

log = logging.getLogger(__name__)

CHANGED: Final = "what was changed since it was handed in"
"""What is put back, in words."""


@dataclass(frozen=True, slots=True)
class MemoryFolder(WorkflowFolder):
    """The folder `.claude/memory` of a project, which is given as `task`. Paths are given beneath the project."""

    @property
    def root(self) -> Path:
        """The project."""
        return self.task

    def memory(self, path: str) -> bytes | None:
        """Return a memory file; None if it is not there. Raises Unreadable."""
        place = self.place(path)
        if place is None or self.files.entry(place) is None:
            return None
        return self.files.read(place, MEMORY_BYTES)

    def restore(self, path: str, data: bytes) -> bool:
        """Put a memory file back to what was handed in; return whether it was otherwise. Raises Unreadable, OSError."""
        try:
            if self.memory(path) == data:
                return False
        except Unreadable:
            if (place := self.place(path)) is None:
                raise
            self.files.rename(place, place.with_name(f"{place.name}.set-aside"))
        log.warning("%s was changed after it was handed in, and is put back", path)
        self.write(path, data)
        return True


def kept_copy(files: Files, home: Path, folder: MemoryFolder, path: str, digest: str) -> bytes | None:
    """Return what was handed in under a hash; None if it is lost, there and at its place in the project.

    The copy that a kill took while it was written is written now.
    """
    copy = layout.task_reports(home) / digest
    try:
        if files.entry(copy) is not None:
            return files.read(copy, MEMORY_BYTES)
        data = folder.memory(path)
    except Unreadable:
        return None
    if data is None or sha256(data).hexdigest() != digest:
        return None
    files.make_folder(copy.parent)
    files.write(copy, data)
    return data


def set_aside(folder: MemoryFolder, task_id: str, phase: SkillPhase, why: str) -> None:
    """Rename the memory file of a phase that is yet to be worked on, if it is complete: it is not that work's.

    An incomplete one stays: its agent is to complete it. `why` becomes part of its name. Raises OSError.
    """
    path = agent_memory_file(task_id, phase.agent)
    try:
        data = folder.memory(path)
        if data is None:
            return
        read_memory(data, task_id, phase)
    except (BadFile, Unreadable):
        return
    folder.move(path, path.removesuffix(".md") + f"-{why}.md")
    log.warning("%s was complete already, and is set aside: %s", path, why)
