"""Files in memory, by the port `Files`, for simulations: fast, with kills between any two writes and faults.

What a program can see of a disk is modelled, and nothing below it: each operation is the few steps that make
a difference after a crash, and what is not fsynced is known. Modes are not kept. One thread at a time.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from orchestrator.ports.files import TEMPORARY, Entry, Unreadable
from orchestrator.testing.memory_tree import Kind, Node, Tree

Step: TypeAlias = Literal["read", "write", "append", "fsync", "rename", "link", "mkdir", "unlink"]
"""What can be killed or made to fail. Each operation says which it takes; all but `read` change something."""


class MemoryFiles:
    """The port `Files`, in memory.

    `before` is called ahead of each changing step, with the operation's path, and may raise (a BaseException
    too) to kill the caller there: the step is then not done. It may be set at any time. `appended` is called with
    each line that a log has taken durably. `now` gives the wall clock in seconds, for the times of files.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.time,
        before: Callable[[Step, Path], None] | None = None,
    ) -> None:
        self.before = before
        self.appended: Callable[[Path, bytes], None] | None = None
        self.writing: set[Path] = set()
        self.now = now
        self._tree = Tree(now)
        self._faults: list[tuple[Step, Path | None, OSError]] = []
        self._logs: list[MemoryLog] = []

    # The port -------------------------------------------------------------------------------------

    def read(self, path: Path, limit: int = 67_108_864, start: int = 0) -> bytes:
        """Return the bytes of a plain file from `start` on, if they are at most `limit`. Raises Unreadable."""
        self._fail("read", path)
        node = self._plain(path, self._tree.find(path))
        if len(node.data) - start > limit:
            raise Unreadable(f"{path} is larger than {limit} bytes")
        return bytes(node.data[start:])

    def write(
        self,
        path: Path,
        data: bytes,
        mode: int = 0o600,
        *,
        durable: bool = True,
        mtime_ns: int | None = None,
    ) -> None:
        """Put `data` at `path`, whole or not at all. Steps: write, rename, fsync."""
        del mode
        self._step("write", path)
        self._tree.parent(path)
        self._step("rename", path)
        self._check_replaceable(path, Kind.FILE)
        self._bind(path, data, durable=durable, mtime_ns=mtime_ns)

    def create(self, path: Path, data: bytes, mode: int = 0o600, *, durable: bool = True) -> bool:
        """Put `data` at `path`; False and no change if the name is taken. Steps: write, link, fsync."""
        del mode
        self._step("write", path)
        self._tree.parent(path)
        self._step("link", path)
        if self._tree.find(path) is not None:
            return False
        self._bind(path, data, durable=durable)
        return True

    def exchange(self, path: Path, data: bytes, mode: int = 0o600) -> Path | None:
        """Put `data` at `path`, and give what was there a temporary name. Steps: write, rename."""
        del mode
        self._step("write", path)
        there = self._tree.find(path)
        self._tree.parent(path)
        self._step("rename", path)
        self._check_replaceable(path, Kind.FILE)
        beside = path.with_name(f"{TEMPORARY}{there.inode:016x}") if there is not None else None
        if beside is not None:
            self._tree.move(path, beside)
        self._bind(path, data, durable=False)
        return beside

    def open_log(self, path: Path) -> MemoryLog:
        """Open a plain file for appending, made if missing.

        Steps, if it is made: write, fsync; if something in it, or its name, is not durable: fsync.
        """
        node = self._tree.find(path)
        if node is None:
            self._step("write", path)
            node = self._durable(b"")
            self._tree.bind(path, node)
            self._settle(path)
        self._plain(path, node)
        if isinstance(node.data, bytes):
            node.data = bytearray(node.data)  # from now on it grows in place
        if node.synced < len(node.data):
            self._step("fsync", path)
            self._tree.sync(node)
        folder, name = self._tree.parent(path)
        if name in folder.unsettled:  # who made it was killed ahead of the folder's fsync
            self._settle(path)
        log = MemoryLog(self._step, self._taken, self._tree, path, node)
        self._logs.append(log)
        return log

    def entries(self, folder: Path) -> list[Entry]:
        """Return what lies in `folder`; a missing one is empty. Raises Unreadable if it is no folder."""
        node = self._tree.find(folder)
        if node is None:
            return []
        if node.kind is not Kind.FOLDER:
            raise Unreadable(f"{folder} is not a folder: move it away")
        return list(node.entries())

    def names(self, folder: Path) -> list[str]:
        """Return what `entries` tells of, by name. Raises Unreadable."""
        return [entry.name for entry in self.entries(folder)]

    def entry(self, path: Path) -> Entry | None:
        """Return one name's entry, or None if it is not there."""
        node = self._tree.find(path)
        return node.entry(path.name) if node else None

    def being_written(self, path: Path) -> bool:
        """Tell whether a test has said so by `writing`."""
        return path in self.writing

    def real(self, path: Path) -> Path:
        """Return the path without `..`: there are no links to folders here."""
        return Path(os.path.normpath(path))

    def make_folder(self, folder: Path, mode: int = 0o700) -> None:
        """Make a folder and what is missing above it. Steps, for each: mkdir, fsync."""
        there = self._tree.find(folder)
        if there is not None:
            if there.kind is not Kind.FOLDER:
                raise _error(errno.EEXIST, folder)
            return
        if self._tree.find(folder.parent) is None:
            self.make_folder(folder.parent, mode)
        self._step("mkdir", folder)
        self._tree.bind(folder, self._tree.node(Kind.FOLDER))
        self._settle(folder)

    def rename(self, old: Path, new: Path) -> None:
        """Rename a file or a folder, replacing `new`, durably. Steps: rename, fsync of each folder."""
        self._step("rename", new)
        node = self._tree.find(old)
        if node is None:
            raise _error(errno.ENOENT, old)
        self._tree.parent(new)
        self._check_replaceable(new, node.kind)
        if old == new:
            return
        self._tree.move(old, new)
        self._settle(new)
        if old.parent != new.parent:
            self._settle(old)

    def remove(self, path: Path, *, durable: bool = True) -> None:
        """Remove a file; no error, and no step, if it is not there. Steps: unlink and, if durable, fsync."""
        node = self._tree.find(path)
        if node is None:
            return
        self._step("unlink", path)
        if node.kind is Kind.FOLDER:
            raise _error(errno.EISDIR, path)
        self._tree.bind(path, None)
        if durable:
            self._settle(path)

    # The world around it --------------------------------------------------------------------------

    def crash(self, *, power: bool = False, torn: int = 0) -> None:
        """Leave what a crash leaves, and close all logs; `before` and faults stay as they are.

        A killed program loses nothing that it wrote. With `power` all that was not fsynced is taken back, but
        for the first `torn` unsynced bytes of each file.
        """
        for log in self._logs:
            log.close()
        self._logs.clear()
        if power:
            self.writing.clear()
            self._tree.lose_power(torn)

    def fail_next(self, step: Step, error: OSError, path: Path | None = None) -> None:
        """Make the next such step (at `path`, if given) raise `error` instead of being done."""
        self._faults.append((step, path, error))

    def put(self, path: Path, data: bytes = b"", kind: Kind = Kind.FILE) -> None:
        """Do as another program would: place something at `path`, with no step taken and nothing fsynced.

        Folders above it are made. A file that is there keeps its inode and is overwritten in place.
        """
        self._place_folder(path.parent)
        there = self._tree.find(path)
        if kind is Kind.FILE and there is not None and there.kind is Kind.FILE:
            there.data, there.synced = data, 0
            self._tree.written(there)
            return
        node = self._tree.node(kind, data)
        self._tree.written(node)
        self._tree.bind(path, node)

    def delete(self, path: Path) -> None:
        """Do as somebody would who removes a file, or a folder and all that is in it."""
        self._tree.cut(path)

    def _place_folder(self, folder: Path) -> None:
        if self._tree.find(folder) is None:
            self._place_folder(folder.parent)
            self._tree.bind(folder, self._tree.node(Kind.FOLDER))

    # Steps ----------------------------------------------------------------------------------------

    def _step(self, step: Step, path: Path) -> None:
        if self.before is not None:
            self.before(step, path)
        self._fail(step, path)

    def _taken(self, path: Path, line: bytes) -> None:
        if self.appended is not None:
            self.appended(path, line)

    def _fail(self, step: Step, path: Path) -> None:
        for fault in self._faults:
            wanted, where, error = fault
            if wanted == step and where in {None, path}:
                self._faults.remove(fault)
                raise error

    def _bind(self, path: Path, data: bytes, *, durable: bool, mtime_ns: int | None = None) -> None:
        """Let a name stand for new bytes, on the disk itself if `durable`."""
        node = self._durable(data) if durable else self._tree.node(Kind.FILE, data)
        if mtime_ns is not None:
            node.altered(mtime_ns)
        self._tree.bind(path, node)
        if durable:
            self._settle(path)

    def _settle(self, path: Path) -> None:
        self._step("fsync", path)
        self._tree.settle(self._tree.parent(path)[0])

    def _durable(self, data: bytes) -> Node:
        node = self._tree.node(Kind.FILE, data)
        node.synced = len(data)
        return node

    def _plain(self, path: Path, node: Node | None) -> Node:
        if node is None:
            raise Unreadable(f"{path} cannot be opened as a plain file: it is not there")
        if node.kind is not Kind.FILE:
            raise Unreadable(f"{path} is not a plain file: move it away")
        return node

    def _check_replaceable(self, path: Path, kind: Kind) -> None:
        """Raise what rename(2) would if something of this kind were put over what is at `path`."""
        there = self._tree.find(path)
        if there is None:
            return
        if there.kind is Kind.FOLDER and kind is not Kind.FOLDER:
            raise _error(errno.EISDIR, path)
        if there.kind is not Kind.FOLDER and kind is Kind.FOLDER:
            raise _error(errno.ENOTDIR, path)
        if there.names:
            raise _error(errno.ENOTEMPTY, path)


class MemoryLog:
    """The port `Log`, in memory: taken back after a failed write, broken after a failed fsync."""

    def __init__(
        self,
        step: Callable[[Step, Path], None],
        taken: Callable[[Path, bytes], None],
        tree: Tree,
        path: Path,
        node: Node,
    ) -> None:
        self._step = step
        self._taken = taken
        self._tree = tree
        self._path = path
        self._node = node
        self._open = True
        self._broken = False

    def append(self, line: bytes, *, durable: bool = True) -> None:
        """Add exactly `line`. Steps: append, and fsync if it is to be durable. Raises OSError."""
        if not self._open:
            raise _error(errno.EBADF, self._path)
        if self._broken:
            raise _error(errno.EIO, self._path)
        self._step("append", self._path)
        node = self._node
        size = len(node.data)
        node.data += line
        self._tree.written(node)
        if durable:
            try:
                self._step("fsync", self._path)
            except OSError:
                self._tree.shorten(node, size)
                self._broken = True
                raise
            self._tree.sync(node)
        self._taken(self._path, line)

    def close(self) -> None:
        """Let go of the file; no error if that was done before."""
        self._open = False


def _error(number: int, path: Path) -> OSError:
    return OSError(number, os.strerror(number), str(path))
