"""Passivation of tasks that are over and get no more input: they use no memory, open file, watch or thread.

A mark in a task's own folder records how its journal ended when it was passivated. As long as that matches, a starting
daemon need not read it. Any request for such a task has it opened again, from the journal.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.daemon.ingest import requests
from orchestrator.daemon.journal.segments import segments
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from orchestrator.daemon.task import Task
    from orchestrator.ports.files import Files

LOOKED_THROUGH: Final = 86_400.0
"""Seconds after which a passive task is opened and checked once more, for late files and old logs."""

AT_ONCE: Final = 8
"""How many passive tasks are checked between two check-ins, at most."""

_MARK_BYTES: Final = 16_384


@dataclass(frozen=True, slots=True)
class PassiveTask:
    """One task: its own folder, the one in its project if it has one, and when it was last checked, or -inf."""

    home: Path
    folder: Path | None
    seen_at: float


@dataclass(slots=True)
class PassiveTasks:
    """All passive tasks of this user, by id, those first whose last check is the longest ago."""

    files: Files
    _tasks: dict[str, PassiveTask] = field(default_factory=dict)

    def __contains__(self, name: object) -> bool:
        """Return whether a task is passive."""
        return name in self._tasks

    def __len__(self) -> int:
        """Return the number of passive tasks."""
        return len(self._tasks)

    @property
    def tasks(self) -> list[PassiveTask]:
        """Return all passive tasks."""
        return list(self._tasks.values())

    def put(self, task: Task, at: float) -> None:
        """Passivate a task at a moment of the monotonic clock.

        Raises:
            OSError: the mark cannot be written; it is not passivated.

        """
        folder = task.where.task if task.begun else None
        end = _end_of_journal(self.files, task.home)
        mark = {**end, "folder": str(folder or "")}
        self.files.write(layout.task_passivated(task.home), json.dumps(mark).encode(), durable=False)
        self.files.remove(layout.former_task_passivated(task.home))
        self._tasks[task.id] = PassiveTask(task.home, folder, at)

    def take(self, name: str) -> None:
        """Remove a task that is open again; no error if it was not passive."""
        self._tasks.pop(name, None)

    def keeps(self, home: Path) -> bool:
        """Return whether a task may stay, or become, passive: nothing waits for it, and its journal matches the mark.

        Raises:
            OSError: its folders cannot be read now.

        """
        passive = self._tasks.get(home.name) or self._marked(home)
        if passive is None or requests.waiting(self.files, home):
            return False
        self._tasks[home.name] = passive
        return True

    def to_look_through(self, at: float) -> list[str]:
        """Return a few tasks that were not checked for long."""
        old = (name for name, passive in self._tasks.items() if at - passive.seen_at >= LOOKED_THROUGH)
        return list(islice(old, AT_ONCE))

    def _marked(self, home: Path) -> PassiveTask | None:
        """Return a task as an earlier daemon passivated it, if nothing was journaled since."""
        if (mark := _mark(self.files, home)) is None:
            return None
        folder = mark.pop("folder", None)
        if not isinstance(folder, str) or mark != _end_of_journal(self.files, home):
            return None
        return PassiveTask(home, Path(folder) if folder else None, -math.inf)


def _mark(files: Files, home: Path) -> dict[str, Any] | None:
    paths = layout.task_passivated(home), layout.former_task_passivated(home)
    path = next((path for path in paths if files.entry(path) is not None), None)
    if path is None:
        return None
    try:
        mark = json.loads(files.read(path, _MARK_BYTES))
    except (ValueError, RecursionError, Unreadable):
        return None
    return mark if isinstance(mark, dict) else None


def _end_of_journal(files: Files, home: Path) -> dict[str, Any]:
    """Return the newest segment's name, and its size."""
    sizes = {entry.name: entry.size for entry in files.entries(layout.task_journal(home))}
    newest = segments(sizes)[-1:]
    return {"segment": newest[0] if newest else "", "size": sizes[newest[0]] if newest else 0}
