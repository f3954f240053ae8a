"""A tree of names in memory that knows what of it a power loss would take back."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from orchestrator.ports.files import TEMPORARY, Entry


class Kind(StrEnum):
    """What a name stands for."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    PIPE = "pipe"


@dataclass(slots=True, eq=False)
class Node:
    """What a name stands for; times are nanoseconds.

    `data` is a file's (a bytearray while a log grows it), of which the first `synced` bytes survive a power
    loss. `names` is a folder's, and `unsettled` what each name not yet fsynced stood for before. `folder` is where
    it was named last. `seen` and `listing` keep what was reported of it and of what lies in it until that changes:
    a daemon looks far more often than anything happens.
    """

    kind: Kind
    inode: int
    mtime_ns: int
    data: bytes | bytearray = b""
    synced: int = 0
    names: dict[str, Node] = field(default_factory=dict)
    unsettled: dict[str, Node | None] = field(default_factory=dict)
    folder: Node | None = None
    seen: Entry | None = None
    listing: tuple[Entry, ...] | None = None

    def entry(self, name: str) -> Entry:
        """Return what `lstat` would say of it under this name."""
        seen = self.seen
        if seen is None or seen.name != name:
            kind = self.kind
            self.seen = seen = Entry(
                name, self.inode, self.mtime_ns, len(self.data), kind is Kind.FILE, kind is Kind.FOLDER
            )
        return seen

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries of a folder."""
        if self.listing is None:
            self.listing = tuple(
                node.entry(name) for name, node in self.names.items() if not name.startswith(TEMPORARY)
            )
        return self.listing

    def altered(self, at: int) -> None:
        """Note that it changed at a moment."""
        self.mtime_ns = at
        self.seen = None
        if self.folder is not None:
            self.folder.listing = None


class Tree:
    """Names and what they stand for. `now` gives the wall clock in seconds; inodes count up from 1."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._inodes = itertools.count(1)
        self._root = self.node(Kind.FOLDER)
        # The same folders again by their whole path, so that finding a name is two look-ups at any depth.
        self._folders = {"": self._root}
        self._unsettled: set[Node] = set()
        self._unsynced: set[Node] = set()

    def node(self, kind: Kind, data: bytes = b"") -> Node:
        """Return something new, not yet named."""
        return Node(kind, next(self._inodes), self.time_ns(), data)

    def time_ns(self) -> int:
        """Return the wall clock in nanoseconds."""
        return int(self._now() * 1_000_000_000)

    def find(self, path: Path) -> Node | None:
        """Return what `path` names, or None. A link on the way leads nowhere."""
        above, _, name = str(path).rpartition("/")
        folder = self._folders.get(above)
        if folder is None:
            return None
        return folder.names.get(name) if name else folder

    def parent(self, path: Path) -> tuple[Node, str]:
        """Return the folder that `path` lies in, and its name there. Raises FileNotFoundError."""
        above, _, name = str(path).rpartition("/")
        folder = self._folders.get(above)
        if folder is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return folder, name

    def bind(self, path: Path, node: Node | None) -> None:
        """Let `path` name `node`, or nothing; not yet durable."""
        folder, name = self.parent(path)
        folder.unsettled.setdefault(name, folder.names.get(name))
        self._unsettled.add(folder)
        folder.altered(self.time_ns())
        folder.listing = None
        if node is None:
            del folder.names[name]
        else:
            folder.names[name] = node
            node.folder = folder
            if node.kind is Kind.FOLDER:
                self._folders[str(path)] = node

    def cut(self, path: Path) -> None:
        """Let `path` name nothing, and with it all that lies beneath it; not yet durable."""
        self.bind(path, None)
        self._list_folders()

    def move(self, old: Path, new: Path) -> None:
        """Let `new` name what `old` named; not yet durable."""
        folder, name = self.parent(old)
        node = folder.names[name]
        self.bind(old, None)
        self.bind(new, node)
        if node.kind is Kind.FOLDER:
            self._list_folders()

    def settle(self, folder: Node) -> None:
        """Make all names of `folder` durable."""
        folder.unsettled.clear()
        self._unsettled.discard(folder)

    def written(self, node: Node) -> None:
        """Note that a file has data which a power loss would take."""
        node.altered(self.time_ns())
        self._unsynced.add(node)

    def sync(self, node: Node) -> None:
        """Make the data of a file durable."""
        node.synced = len(node.data)
        self._unsynced.discard(node)

    def shorten(self, node: Node, size: int) -> None:
        """Take back what was added to a file."""
        node.data = node.data[:size]
        node.altered(node.mtime_ns)

    def lose_power(self, torn: int) -> None:
        """Take back what is not durable, but for the first `torn` bytes of data in each file."""
        for folder in self._unsettled:
            for name, before in folder.unsettled.items():
                if before is None:
                    folder.names.pop(name, None)
                else:
                    folder.names[name] = before
                    before.folder = folder
            folder.unsettled.clear()
            folder.listing = None
        for node in self._unsynced:
            self.shorten(node, node.synced + torn)
            node.synced = len(node.data)
        self._unsettled.clear()
        self._unsynced.clear()
        self._list_folders()

    def _list_folders(self) -> None:
        self._folders = {"": self._root}
        open_ends = [("", self._root)]
        while open_ends:
            above, folder = open_ends.pop()
            for name, node in folder.names.items():
                if node.kind is Kind.FOLDER:
                    self._folders[f"{above}/{name}"] = node
                    open_ends.append((f"{above}/{name}", node))
