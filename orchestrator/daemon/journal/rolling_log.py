"""Logs that begin anew when they are large. One old part of each is kept as `NAME.1`: a log takes twice its size."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from orchestrator.ports.files import Files, Log

_OUTPUTS: Final = (1, 2)
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def old_one(path: Path) -> Path:
    """Return the path of a log's older part."""
    return path.with_name(f"{path.name}.1")


class RollingLog:
    """A log, by the port `Log`, that begins anew before it grows over `size` bytes."""

    def __init__(self, files: Files, path: Path, size: int) -> None:
        """Open the log at `path`. Raises Unreadable, OSError."""
        self._files, self._path, self._bound = files, path, size
        self._log: Log = files.open_log(path)
        found = files.entry(path)
        self._size = found.size if found is not None else 0

    def append(self, line: bytes) -> None:
        """Write `line`, durably. Raises OSError."""
        if self._size and self._size + len(line) > self._bound:
            self._begin_anew()
        self._log.append(line)
        self._size += len(line)

    def _begin_anew(self) -> None:
        # If killed, or out of room, after the rename, the file is missing, and is made at the next attempt.
        if self._files.entry(self._path) is not None:
            self._files.rename(self._path, old_one(self._path))
        begun = self._files.open_log(self._path)
        self._log.close()
        self._log, self._size = begun, 0

    def close(self) -> None:
        """Close the file."""
        self._log.close()


def roll_output(path: Path, size: int) -> bool:
    """Redirect this process's own output to a new file at `path`, if it goes there and has `size` bytes.

    The file was opened by whoever started us, perhaps a service manager that opens it again later: so it is not
    truncated but moved aside, and our descriptors get a new file. Output to other destinations is left alone. Returns
    whether it was done.

    Raises:
        OSError: it could not be done now; the output stays where it was.

    """
    ours = os.fstat(2)
    if not stat.S_ISREG(ours.st_mode) or ours.st_size < size:
        return False
    if _is(path, ours):
        path.rename(old_one(path))
    elif path.exists() or not _is(
        old_one(path), ours
    ):  # it was moved aside before, and then there was no room for a new file
        return False
    begun = os.open(path, _NEW, 0o600)
    try:
        for output in _OUTPUTS:
            with suppress(OSError):  # a closed descriptor
                if os.path.samestat(os.fstat(output), ours):
                    os.dup2(begun, output)
    finally:
        os.close(begun)
    return True


def _is(path: Path, status: os.stat_result) -> bool:
    with suppress(OSError):
        return os.path.samestat(path.lstat(), status)
    return False
