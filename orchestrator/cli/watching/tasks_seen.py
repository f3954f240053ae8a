"""The tasks that are watched, each read again only when its files have changed; and the daemon's heartbeat."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final

from orchestrator import layout, own_files
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import CommandError
from orchestrator.cli.tasks import AT_WORK, TaskRecord, ids
from orchestrator.model.errors import OrchestratorError

BRANCHES: Final = 10.0
"""Seconds between two looks at the branches of tasks at rest, which only their users move."""

_Stamp = tuple[int, ...]


class TasksSeen:
    """The tasks as their files say. `look` costs two stats for each task in which nothing has changed.

    Args:
        state: the folder of the PM.
        meant: which tasks are watched.

    """

    def __init__(self, state: str, meant: Callable[[TaskRecord], bool]) -> None:
        self.records: list[TaskRecord] = []
        self.fault = ""
        self.daemon = ""
        self.daemon_up = False
        self._state = state
        self._meant = meant
        self._read: dict[str, tuple[_Stamp, TaskRecord]] = {}
        self._branches_at = 0.0

    def look(self) -> bool:
        """Read what has changed; return whether anything has. `fault` says why nothing could be read, if so."""
        fault, found = "", list[str]()
        try:
            found = ids(self._state)
        except (OrchestratorError, own_files.Untrusted, OSError) as error:
            fault = str(error)
        known = {task: self._read.get(task) for task in found}
        changed = fault != self.fault or known.keys() != self._read.keys()
        fresh: dict[str, tuple[_Stamp, TaskRecord]] = {}
        for task, before in known.items():
            stamp = _stamp(layout.task_home(self._state, task))
            if before is not None and before[0] == stamp:
                fresh[task] = before
                continue
            # The stamp is older than what is read: what is written in between is read once more.
            fresh[task] = stamp, TaskRecord(self._state, task)
            changed = True
        self.fault, self._read = fault, fresh
        if changed:
            shown = [record for _, record in fresh.values() if record.wanted and self._meant(record)]
            self.records = sorted(shown, key=_place)
        if changed or time.monotonic() >= self._branches_at:
            self._branches_at = time.monotonic() + BRANCHES
            were = [(record.moved, record.lost) for record in self.records]
            for record in self.records:
                record.look_at_branch()
            changed = changed or were != [(record.moved, record.lost) for record in self.records]
        return changed

    def look_at_daemon(self) -> None:
        """Read lock and heartbeat. This costs more than `look`, and is shown in words that change seldom."""
        try:
            beat = Beat(self._state)
        except (CommandError, OSError) as error:
            self.daemon, self.daemon_up = str(error), False
            return
        latest = max((float(record.view.get("updated") or 0) for record in self.records), default=0.0)
        self.daemon, self.daemon_up = beat.words(latest or None), beat.up


def _stamp(home: str) -> _Stamp:
    """Return what differs once a task's folder has other entries, or its `state.json` was replaced."""
    stamp: list[int] = []
    for path in (home, layout.task_state(home)):
        try:
            found = os.lstat(path)
        except OSError:
            stamp.append(0)
        else:
            stamp += (found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode, found.st_uid)
    return tuple(stamp)


def _place(record: TaskRecord) -> tuple[bool, float, str]:
    """Return where a task stands in the list: those at work first, the newest first. Its news do not move it."""
    at_work = record.view.get("state", "running") in AT_WORK
    return not at_work, -float(record.view.get("started_at") or 0), record.id
