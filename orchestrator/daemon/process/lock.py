"""One daemon per user: a lock that the system releases when the daemon dies, not a pid file."""

from __future__ import annotations

import fcntl
import json
import os
import time
from functools import cache
from typing import TYPE_CHECKING, Final

from orchestrator import __version__, layout, own_files
from orchestrator.hosts.processes import start_of
from orchestrator.model.errors import Refused
from orchestrator.scribe.page import put_page

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from orchestrator.ports.clock import Clock
    from orchestrator.ports.files import Files


PATIENCE: Final = 0.5
"""Seconds that another process may hold the lock before it must be a daemon."""


class DaemonLock:
    """The lock, held as long as this object's file is open. Runs do not inherit it; a successor does."""

    def __init__(self, state: Path, inherited: int | None = None) -> None:
        """Take the lock, or keep it.

        Args:
            state: the PM's own folder.
            inherited: the descriptor by which our predecessor in this process held the lock. It is used only if it is
                the file that others would find; otherwise the lock is taken as usual.

        Raises:
            Refused: another daemon has it; the message names its pid. Or the file cannot be trusted.

        """
        self._path = layout.daemon_lock(state)
        if inherited is not None and _same_file(inherited, self._path):
            self._file = inherited
            os.set_inheritable(self._file, False)  # noqa: FBT003 (takes no keyword)
        else:
            self._file = _opened(str(self._path))
        if not _taken(self._file):
            pid = os.pread(self._file, 32, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            raise Refused(f"a daemon runs already, pid {pid}: `task daemon status` shows it")
        line = f"{os.getpid()}\n".encode()
        if (
            os.pread(self._file, 32, 0) != line
        ):  # unchanged after an upgrade: readers must never find it empty
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, line, 0)

    def check(self) -> None:
        """Check that this is still the lock that others would find.

        Raises:
            Refused: the folder was deleted, so another daemon may already run in a new one.

        """
        if not _same_file(self._file, self._path):
            raise Refused(f"{self._path} was deleted: this daemon ends, start a new one")

    def handed_on(self) -> int:
        """Return the descriptor by which the program that this process becomes keeps the lock."""
        os.set_inheritable(self._file, True)  # noqa: FBT003 (takes no keyword)
        return self._file

    def release(self) -> None:
        """Release the lock."""
        os.close(self._file)


@cache
def _start(pid: int) -> str:
    return start_of(pid)


def _opened(path: str) -> int:
    """Return the open lock file, made if missing. Another user's file, or no plain file, must not be locked."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError as error:
        if reason := own_files.distrust_file(path, os.lstat(path)):
            raise Refused(reason) from error
        raise
    if reason := own_files.distrust_file(path, os.fstat(file)):
        os.close(file)
        raise Refused(reason)
    return file


def _same_file(descriptor: int, path: Path) -> bool:
    """Return whether an open file is the one that `path` names."""
    try:
        held, found = os.fstat(descriptor), path.lstat()
    except OSError:  # not open, or missing
        return False
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)


def _taken(file: int) -> bool:
    """Take the lock. `task status` holds it for microseconds to see whether a daemon does; wait for that."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        else:
            return True


def beat(
    files: Files,
    state: Path,
    started_at: float,
    clock: Clock,
    every: float,
    settings: Mapping[str, str | float],
    more: Mapping[str, object] | None = None,
) -> None:
    """Write the beat, which shows that the loop turns, and when the next one is due.

    `process` is the system's start mark of this process: its pid alone may belong to another one later. `monotonic`
    lets others distinguish a hanging daemon from a machine that slept, or whose clock was set. `settings` says which
    settings are in force, since when, and why those on disk are not, if they cannot be used. `more` is said where it is
    not empty: `polling`, why the daemon gets no file events; `daily`, what became of daily reports; `telemetry`, of
    traces and metrics.
    """
    beat_data = {
        "pid": os.getpid(),
        "process": _start(os.getpid()),
        "started_at": started_at,
        "beat_at": clock.now(),
        "monotonic": clock.monotonic(),
        "every": every,
        "version": __version__,
        "settings": dict(settings),
    }
    beat_data.update({name: value for name, value in (more or {}).items() if value})
    put_page(files, layout.daemon_beat(state), json.dumps(beat_data).encode())
