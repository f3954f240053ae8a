"""One daemon per user: a lock that the system lets go of when the daemon dies, not a pid file."""

from __future__ import annotations

import fcntl
import json
import os
import time
from typing import TYPE_CHECKING, Final

from orchestrator import __version__, places
from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.files import Files


PATIENCE: Final = 0.5
"""Seconds for which somebody else may hold the lock before it must be a daemon."""


class DaemonLock:
    """The lock, held as long as this object's file is open. Runs do not inherit it."""

    def __init__(self, state: Path) -> None:
        """Take the lock.

        Raises:
            Refused: another daemon has it; the message names its pid.

        """
        self._path = places.daemon_lock(state)
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        if not _taken(self._file):
            pid = os.read(self._file, 32).decode("ascii", "replace").strip()
            os.close(self._file)
            raise Refused(f"a daemon runs already, pid {pid}: `task daemon status` shows it")
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def check(self) -> None:
        """Check that this is still the lock that others would find.

        Raises:
            Refused: the folder was taken away, so that another daemon may run in a new one by now.

        """
        try:
            found = self._path.lstat()
        except FileNotFoundError:
            found = None
        held = os.fstat(self._file)
        if found is None or (found.st_dev, found.st_ino) != (held.st_dev, held.st_ino):
            raise Refused(f"{self._path} was taken away: this daemon ends, start a new one")

    def release(self) -> None:
        """Let go of the lock."""
        os.close(self._file)


def _taken(file: int) -> bool:
    """Take the lock. `task status` holds it for microseconds to see whether a daemon does: that is waited out."""
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


def beat(files: Files, state: Path, started_at: float, at: float) -> None:
    """Write the beat, which shows that the loop turns."""
    said = {"pid": os.getpid(), "started_at": started_at, "beat_at": at, "version": __version__}
    files.write(places.daemon_beat(state), json.dumps(said).encode())
