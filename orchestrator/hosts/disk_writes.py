"""How a file on a disk that is not trusted is opened, replaced and synced."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from orchestrator.ports.files import TEMPORARY, Entry, Unreadable

if TYPE_CHECKING:
    from pathlib import Path

OTHERS: Final = 0o077
"""The permissions of a file that are not its owner's."""

_SUSPICIOUS: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


NOT_THERE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


_NOT_OURS: Final = NOT_THERE | {errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENXIO, errno.EISDIR}


def opened(path: Path, flags: int) -> int:
    """Open a path without following a link or waiting for a pipe; what is not ours to read is refused."""
    try:
        return os.open(path, flags | _SUSPICIOUS, 0o600)
    except OSError as error:
        if error.errno in _NOT_OURS:
            raise Unreadable(f"{path} cannot be opened as a plain file: {error.strerror}") from error
        raise


def read_on(descriptor: int, most: int, piece: int) -> bytes:
    """Read to the end of the file, `piece` bytes at a time, but no more than `most`."""
    pieces = []
    while most > 0 and (got := os.read(descriptor, min(most, piece))):
        pieces.append(got)
        most -= len(got)
    return b"".join(pieces)


def entry_of(name: str, status: os.stat_result) -> Entry:
    """Return what is known of a file from its status."""
    is_file, is_folder = stat.S_ISREG(status.st_mode), stat.S_ISDIR(status.st_mode)
    return Entry(name, status.st_ino, status.st_mtime_ns, status.st_size, is_file, is_folder)


def prepared(path: Path, data: bytes, mode: int, *, durable: bool, mtime_ns: int | None = None) -> Path:
    """Write a temporary file beside `path`; return its path. Nothing is left if that fails."""
    temporary = path.with_name(TEMPORARY + os.urandom(8).hex())
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SUSPICIOUS, mode)
    try:
        if mode & OTHERS:
            os.fchmod(descriptor, mode)
        write_all(descriptor, data)
        if mtime_ns is not None:
            os.utime(descriptor, ns=(mtime_ns, mtime_ns))
        if durable:
            sync(descriptor)
    except BaseException:
        discard(temporary)
        raise
    finally:
        os.close(descriptor)
    return temporary


def replaced(temporary: Path, path: Path) -> Path | None:
    """Replace `path` by a temporary file; return the new name of what was there, None if nothing was."""
    kept = path.with_name(TEMPORARY + os.urandom(8).hex())
    try:
        with suppress(FileNotFoundError):
            os.link(path, kept, follow_symlinks=False)
        temporary.rename(path)
    except BaseException:
        discard(temporary)
        raise
    return kept if os.path.lexists(kept) else None


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`: after a short write, the next one raises the cause."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def discard(temporary: Path) -> None:
    """Remove a temporary file, if it can be."""
    with suppress(OSError):  # `entries` hides it, so nobody will take it for a file
        temporary.unlink()


def sync(descriptor: int) -> None:
    """Fsync to the disk itself: on macOS a plain fsync stops at the drive's cache."""
    if hasattr(fcntl, "F_FULLFSYNC"):
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
