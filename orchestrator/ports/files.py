"""Files: read with suspicion, written whole, appended durably."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

TEMPORARY: Final = ".tmp-"
"""How the names begin under which `write` and `create` prepare a file. `entries` leaves them out."""


class Unreadable(Refused):
    """Not a plain file that we would read: a link, a pipe, a device, a folder, too large, or not there."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder, by `lstat`: links are not followed. Times are nanoseconds, sizes bytes."""

    name: str
    inode: int
    mtime_ns: int
    size: int
    is_file: bool
    is_folder: bool


class Log(Protocol):
    """A file that only grows. Each line is on the disk before `append` returns, unless it need not be durable."""

    def append(self, line: bytes, *, durable: bool = True) -> None:
        """Write `line` and fsync; the next durable line syncs one that is not.

        Raises OSError: then nothing may be decided on that file any more.
        """
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


class Files(Protocol):
    """A tree of files. Paths are absolute; the caller made them by `model.names.beneath` or from settings."""

    def read(self, path: Path, limit: int = 67_108_864, start: int = 0) -> bytes:
        """Return the bytes of a plain file from `start` on, if they are at most `limit`.

        Opens with O_NOFOLLOW and O_NONBLOCK and looks at the open file, so a link or pipe put there at the last
        moment is not followed and does not hang. Raises Unreadable.
        """
        ...

    def write(
        self,
        path: Path,
        data: bytes,
        mode: int = 0o600,
        *,
        durable: bool = True,
        mtime_ns: int | None = None,
    ) -> None:
        """Put `data` at `path`, whole or not at all: temp beside it, fsync, rename, fsync of the folder.

        Without `durable` nothing is fsynced: for what means nothing after a power cut, as it speaks of processes
        or can be made again. It survives the end of our own process all the same. A copy says by `mtime_ns` when
        what it is a copy of was written.
        """
        ...

    def create(self, path: Path, data: bytes, mode: int = 0o600, *, durable: bool = True) -> bool:
        """Like `write`, but never over an existing name: False, and nothing changed, if there is one."""
        ...

    def exchange(self, path: Path, data: bytes, mode: int = 0o600) -> Path | None:
        """Put `data` at `path`, whole, and return the name under which lies what was there; None if nothing was.

        For a file that others may write at any time: what they write until this very step is not lost, and who has
        the old file open goes on writing into it. That has a temporary name beside it, and the caller removes it.
        Nothing is fsynced.
        """
        ...

    def open_log(self, path: Path) -> Log:
        """Open a file for appending, made with mode 0600 if missing.

        What lies in it already is on the disk before this returns: a writer that was killed may not have come to it.
        """
        ...

    def entries(self, folder: Path) -> list[Entry]:
        """Return what lies in a folder, in no order; temporary names of `write` are left out.

        A missing folder is an empty one.
        """
        ...

    def names(self, folder: Path) -> list[str]:
        """Return the names that `entries` would tell of, without a look at each: a tenth of the time."""
        ...

    def entry(self, path: Path) -> Entry | None:
        """Return one name's entry, or None if it is not there."""
        ...

    def being_written(self, path: Path) -> bool:
        """Tell whether some process has the file open for writing; False where the system cannot tell."""
        ...

    def real(self, path: Path) -> Path:
        """Return where an absolute path leads: links followed as far as there are any, `..` resolved."""
        ...

    def make_folder(self, folder: Path, mode: int = 0o700) -> None:
        """Make a folder and what is missing above it; no error if it is there."""
        ...

    def rename(self, old: Path, new: Path) -> None:
        """Rename within a file system, replacing `new`, durably."""
        ...

    def remove(self, path: Path, *, durable: bool = True) -> None:
        """Remove a file; no error if it is not there. Without `durable` the folder is not fsynced."""
        ...
