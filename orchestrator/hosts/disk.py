"""Files on a disk, by the port `Files`: not trusted when read, written whole, appended durably.

A mode that lets others read is applied as given, whatever the umask: it is for files that the daemon shares with agents
and users; otherwise it makes nothing for others. Links in the middle of a path are followed; a link as the last part
never is.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
from pathlib import Path
from typing import Final

from orchestrator import own_files
from orchestrator.hosts.disk_writes import (
    NOT_THERE,
    OTHERS,
    discard,
    entry_of,
    opened,
    prepared,
    read_on,
    replaced,
    sync,
    sync_folder,
    write_all,
)
from orchestrator.hosts.swap import swapped
from orchestrator.ports.files import TEMPORARY, Entry, Unreadable

_NO_SWAP: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})


class DiskFiles:
    """The port `Files` on the file systems of this machine.

    Below `own`, the PM's own folder, only what belongs to its user and nobody else can write is read, written to or
    listed: anything else is Unreadable, and the message says what to do (U4).

    What the disk itself cannot do now (full, read-only, no more descriptors, a failed fsync) is raised as the OSError
    of the system: the daemon must see it, and decide.
    """

    def __init__(self, own: Path | None = None) -> None:
        self._own = own
        self._below = f"{own}/" if own else ""

    def read(self, path: Path, limit: int = 67_108_864, start: int = 0) -> bytes:
        """Return the bytes of a plain file from `start` on, if they are at most `limit`. Raises Unreadable, OSError."""
        descriptor = opened(path, os.O_RDONLY)
        try:
            size = max(self._checked(descriptor, path).st_size - start, 0)
            os.lseek(descriptor, start, os.SEEK_SET)
            data = read_on(descriptor, limit + 1, size + 1) if size <= limit else None
        finally:
            os.close(descriptor)
        if data is None or len(data) > limit:  # it may have grown since the fstat
            raise Unreadable(f"{path} is larger than {limit} bytes")
        return data

    def write(
        self,
        path: Path,
        data: bytes,
        mode: int = 0o600,
        *,
        durable: bool = True,
        mtime_ns: int | None = None,
    ) -> None:
        """Put `data` at `path`, whole or not at all. A link at `path` is replaced, not followed."""
        temporary = prepared(path, data, mode, durable=durable, mtime_ns=mtime_ns)
        try:
            temporary.rename(path)
        except BaseException:
            discard(temporary)
            raise
        if durable:
            sync_folder(path.parent)

    def create(self, path: Path, data: bytes, mode: int = 0o600, *, durable: bool = True) -> bool:
        """Put `data` at `path` and return True; return False, and change nothing, if the name is taken.

        The name appears by link(), which never replaces a file, so of two simultaneous calls exactly one succeeds.
        """
        temporary = prepared(path, data, mode, durable=durable)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        finally:
            discard(temporary)
        if durable:
            sync_folder(path.parent)
        return True

    def exchange(self, path: Path, data: bytes, mode: int = 0o600) -> Path | None:
        """Put `data` at `path`, and return the name of what was there; None if nothing was.

        Linux and macOS swap two names in one step. Where the file system cannot, the old file gets its second name
        just before it is replaced: what somebody renames to `path` between these two steps is lost.
        """
        temporary = prepared(path, data, mode, durable=False)
        try:
            while not swapped(temporary, path):
                try:
                    os.link(temporary, path)
                except FileExistsError:
                    continue
                discard(temporary)
                return None
        except OSError as error:
            if error.errno not in _NO_SWAP:
                discard(temporary)
                raise
            return replaced(temporary, path)
        if (
            temporary.is_dir() and not temporary.is_symlink() and swapped(temporary, path)
        ):  # it stays where it was
            discard(temporary)
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        return temporary

    def open_log(self, path: Path) -> DiskLog:
        """Open a plain file for appending, made with mode 0600 if missing. Raises Unreadable, OSError."""
        descriptor = opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            size = self._checked(descriptor, path).st_size
            os.fsync(descriptor)
            sync_folder(path.parent)
        except BaseException:
            os.close(descriptor)
            raise
        return DiskLog(descriptor, size)

    def entries(self, folder: Path) -> list[Entry]:
        """Return the entries of `folder`; none if it is missing. Raises Unreadable if it is no folder."""
        self._check_folder(folder)
        found = []
        try:
            with os.scandir(folder) as names:
                for name in names:
                    if name.name.startswith(TEMPORARY):
                        continue
                    try:
                        found.append(entry_of(name.name, name.stat(follow_symlinks=False)))
                    except FileNotFoundError:  # removed after it was listed
                        continue
        except FileNotFoundError:
            return []
        except NotADirectoryError as error:
            raise Unreadable(f"{folder} is not a folder: move it away") from error
        return found

    def names(self, folder: Path) -> list[str]:
        """Return the names in `folder`; none if it is missing. Raises Unreadable if it is no folder."""
        try:
            names = os.listdir(folder)  # noqa: PTH208 (names, not paths)
        except FileNotFoundError:
            return []
        except NotADirectoryError as error:
            raise Unreadable(f"{folder} is not a folder: move it away") from error
        # There may be thousands, listed at the end of every run: comparing one character is cheaper.
        return [name for name in names if name[0] != TEMPORARY[0] or not name.startswith(TEMPORARY)]

    def entry(self, path: Path) -> Entry | None:
        """Return the entry of one name, or None if it does not exist."""
        try:
            return entry_of(path.name, path.lstat())
        except OSError as error:
            if error.errno in NOT_THERE:
                return None
            raise

    def real(self, path: Path) -> Path:
        """Return the target of an absolute path: links followed as far as they exist, `..` resolved."""
        return Path(os.path.realpath(path))

    def being_written(self, path: Path) -> bool:
        """Return whether some process has the file open for writing; False if the system cannot tell.

        Requests a read lease, which Linux grants only while nobody has the file open for writing.
        """
        if not hasattr(fcntl, "F_SETLEASE"):
            return False
        descriptor = opened(path, os.O_RDONLY)
        try:
            # If somebody opens it now, the holder gets a signal: SIGIO would end it, SIGURG is ignored by default.
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except BlockingIOError:
            return True
        except OSError:  # not ours to lease, or a file system without leases
            return False
        finally:
            os.close(descriptor)
        return False

    def make_folder(self, folder: Path, mode: int = 0o700) -> None:
        """Make a folder and its missing parents, each durably and with `mode`."""
        try:
            folder.mkdir(mode)
        except FileExistsError:
            self._check_folder(folder)
            if folder.is_dir():
                return
            raise
        except FileNotFoundError:
            self.make_folder(folder.parent, mode)
            self.make_folder(folder, mode)
            return
        if mode & OTHERS:
            folder.chmod(mode)
        sync_folder(folder.parent)

    def _checked(self, descriptor: int, path: Path) -> os.stat_result:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{path} is not a plain file: move it away")
        if self._is_own(path) and (reason := own_files.distrust(str(path), status)):
            raise Unreadable(reason)
        return status

    def _check_folder(self, folder: Path) -> None:
        """Check a folder of the PM's own and its parents below `own`; a missing one is fine."""
        while self._is_own(folder):
            try:
                reason = own_files.distrust(str(folder), folder.lstat())
            except OSError:
                reason = ""
            if reason:
                raise Unreadable(reason)
            folder = folder.parent

    def _is_own(self, path: Path) -> bool:
        return bool(self._below) and (path == self._own or str(path).startswith(self._below))

    def rename(self, old: Path, new: Path) -> None:
        """Rename within a file system, replacing `new`, durably."""
        old.rename(new)
        for folder in {new.parent, old.parent}:
            sync_folder(folder)

    def remove(self, path: Path, *, durable: bool = True) -> None:
        """Remove a file, durably unless told otherwise; no error if it is missing."""
        try:
            path.unlink()
        except FileNotFoundError:
            return
        if durable:
            sync_folder(path.parent)


class DiskLog:
    """A file that only grows, by the port `Log`, with one writer. `append` writes exactly the bytes given.

    After a failed write the partial line is removed and the log stays usable, so that work can go on when there is
    room. After a failed fsync, or if the partial line could not be removed, it is unknown what the disk holds (the
    kernel may have dropped the pages): each further `append` raises.
    """

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self._size = size
        self._broken = False

    def append(self, line: bytes, *, durable: bool = True) -> None:
        """Write `line`, its line break included, and fsync, if it is to be durable. Raises OSError."""
        if self._broken:
            raise OSError(errno.EIO, "this log failed before and must be opened and read again")
        try:
            write_all(self._descriptor, line)
        except OSError:
            self._take_back()
            raise
        try:
            if durable:
                sync(self._descriptor)
        except OSError:
            self._broken = True
            self._take_back()
            raise
        self._size += len(line)

    def _take_back(self) -> None:
        try:
            os.ftruncate(self._descriptor, self._size)
        except OSError:
            self._broken = True

    def close(self) -> None:
        """Close the file; no error if it is closed already."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
