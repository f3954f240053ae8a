"""Tasks that are over, and to which nothing comes any more: no memory, open file, watch or thread is spent on them.

A mark in a task's own folder says how its journal ended when it was shelved. While that is so, a daemon that starts
needs not read it. Whatever asks for such a task has it opened again, from the journal.
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
"""Seconds after which a shelved task is opened and looked at once more: files come late, and old logs are to go."""

AT_ONCE: Final = 8
"""How many are looked through between two check-ins, at most."""

_MARK_BYTES: Final = 16_384


@dataclass(frozen=True, slots=True)
class PassiveTask:
    """One task: its own folder, the one in its project if it has one, and when it was last looked at, or -inf."""

    home: Path
    folder: Path | None
    seen_at: float


@dataclass(slots=True)
class PassiveTasks:
    """All shelved tasks of this user, by id, those first that were looked at the longest ago."""

    files: Files
    _tasks: dict[str, PassiveTask] = field(default_factory=dict)

    def __contains__(self, name: object) -> bool:
        """Return whether a task is shelved."""
        return name in self._tasks

    def __len__(self) -> int:
        """Tell how many there are."""
        return len(self._tasks)

    @property
    def tasks(self) -> list[PassiveTask]:
        """All that are shelved."""
        return list(self._tasks.values())

    def put(self, task: Task, at: float) -> None:
        """Shelve a task at a moment of the clock that nobody sets.

        Raises:
            OSError: the disk does not take the mark; it is not shelved.

        """
        folder = task.where.task if task.begun else None
        end = _end_of_journal(self.files, task.home)
        mark = {**end, "folder": str(folder or "")}
        self.files.write(layout.task_shelved(task.home), json.dumps(mark).encode(), durable=False)
        self._tasks[task.id] = PassiveTask(task.home, folder, at)

    def take(self, name: str) -> None:
        """A task is open again; no error if it was not shelved."""
        self._tasks.pop(name, None)

    def keeps(self, home: Path) -> bool:
        """Return whether a task may stay, or be, shelved: nothing waits for it, and it was shelved as it stands.

        Raises:
            OSError: its folders cannot be read now.

        """
        shelved = self._tasks.get(home.name) or self._marked(home)
        if shelved is None or requests.waiting(self.files, home):
            return False
        self._tasks[home.name] = shelved
        return True

    def to_look_through(self, at: float) -> list[str]:
        """Return the tasks that were not looked at for long: a few."""
        old = (name for name, shelved in self._tasks.items() if at - shelved.seen_at >= LOOKED_THROUGH)
        return list(islice(old, AT_ONCE))

    def _marked(self, home: Path) -> PassiveTask | None:
        """Return a task as an earlier daemon shelved it, if nothing was journaled since."""
        if (mark := _mark(self.files, home)) is None:
            return None
        folder = mark.pop("folder", None)
        if not isinstance(folder, str) or mark != _end_of_journal(self.files, home):
            return None
        return PassiveTask(home, Path(folder) if folder else None, -math.inf)


def _mark(files: Files, home: Path) -> dict[str, Any] | None:
    path = layout.task_shelved(home)
    if files.entry(path) is None:
        return None
    try:
        mark = json.loads(files.read(path, _MARK_BYTES))
    except (ValueError, RecursionError, Unreadable):
        return None
    return mark if isinstance(mark, dict) else None


def _end_of_journal(files: Files, home: Path) -> dict[str, Any]:
    """Return which segment is the newest, and its size."""
    sizes = {entry.name: entry.size for entry in files.entries(layout.task_journal(home))}
    newest = segments(sizes)[-1:]
    return {"segment": newest[0] if newest else "", "size": sizes[newest[0]] if newest else 0}
