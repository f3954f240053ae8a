"""Files below a root, reached by descriptor: no link on the way is followed, at the moment of reading or writing (F3).

Each folder is opened from the descriptor of the one above it with O_NOFOLLOW, so a folder that somebody swaps for a
link between a check and a write is refused by the kernel, or the write goes into the folder that was checked.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from orchestrator.model.errors import Refused

FILE_BYTES: Final = 10_000_000
"""How large a file may be, in bytes."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


@dataclass(frozen=True, slots=True)
class Known:
    """What a file was seen to be: the hash of its bytes, their number, and its mode bits."""

    sha256: str
    size: int
    mode: int


@contextmanager
def opened_folder(root: Path, parts: Sequence[str]) -> Iterator[int]:
    """Open a folder below `root`.

    Raises:
        Refused: a part is a link or no folder.
        FileNotFoundError: a part is missing.

    """
    descriptor = os.open(root, _FOLDER)
    try:
        for nth, part in enumerate(parts):
            try:
                below = os.open(part, _FOLDER, dir_fd=descriptor)
            except OSError as error:
                if error.errno in {errno.ELOOP, errno.ENOTDIR}:
                    shown = "/".join(parts[: nth + 1])
                    raise Refused(f"{shown[:200]!a} is a link or no folder") from None
                raise
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def read(root: Path, parts: Sequence[str]) -> tuple[bytes, Known] | None:
    """Return the bytes of a plain file, and what it is; None if there is nothing.

    Raises:
        Refused: it is no plain file, or larger than 10 MB.

    """
    try:
        with opened_folder(root, parts[:-1]) as folder:
            return read_at(folder, parts[-1])
    except FileNotFoundError:
        return None


def read_at(folder: int, name: str) -> tuple[bytes, Known]:
    """Return the bytes of a plain file in an open folder, and what it is. Raises Refused, FileNotFoundError."""
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:
            raise Refused(f"{name[:200]!a} is a link or no plain file") from None
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Refused(f"{name[:200]!a} is no plain file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(FILE_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > FILE_BYTES:
        raise Refused(f"{name[:200]!a} is larger than {FILE_BYTES} bytes")
    return data, Known(sha256(data).hexdigest(), len(data), stat.S_IMODE(status.st_mode))


def put(
    root: Path,
    parts: Sequence[str],
    data: bytes,
    mode: int,
    temporary: str,
    *,
    new: bool,
    durable: bool = True,
) -> None:
    """Put a file at its place, whole; `new`: only if nothing is there.

    Its bytes are on the disk before it has its name; the name itself only if it is to be `durable`.

    `temporary` is the name that it has, in the same folder, until it is whole.

    Raises:
        FileExistsError: something is there, and it should be new.

    """
    with opened_folder(root, parts[:-1]) as folder:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE
        with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        if new:
            os.link(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            os.unlink(temporary, dir_fd=folder)
        else:
            os.rename(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
        if durable:
            os.fsync(folder)


def remove(root: Path, parts: Sequence[str], *, durable: bool = True) -> None:
    """Remove a file; no error if it, or its folder, is missing."""
    with suppress(FileNotFoundError), opened_folder(root, parts[:-1]) as folder:
        with suppress(FileNotFoundError):
            os.unlink(parts[-1], dir_fd=folder)
        if durable:
            os.fsync(folder)


def make_folder(root: Path, parts: Sequence[str]) -> None:
    """Make a folder, which `sync_folder` of the one above makes durable. Raises FileExistsError."""
    with opened_folder(root, parts[:-1]) as folder:
        os.mkdir(parts[-1], 0o755, dir_fd=folder)


def sync_folder(root: Path, parts: Sequence[str]) -> None:
    """Make durable which names a folder has. Raises Refused, OSError."""
    with opened_folder(root, parts) as folder:
        os.fsync(folder)


def remove_folder(root: Path, parts: Sequence[str]) -> None:
    """Remove a folder, durably, if it is empty; no error if it is missing or holds something."""
    try:
        with opened_folder(root, parts[:-1]) as folder:
            os.rmdir(parts[-1], dir_fd=folder)
            os.fsync(folder)
    except OSError as error:
        if error.errno not in {errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST}:
            raise


def is_folder(root: Path, parts: Sequence[str]) -> bool:
    """Return whether a folder exists. Raises Refused if something else has its name."""
    try:
        with opened_folder(root, parts):
            return True
    except FileNotFoundError:
        return False
