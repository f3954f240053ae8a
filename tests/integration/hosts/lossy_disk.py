"""A real disk that loses in a power cut what was not fsynced: names of a folder, bytes of a file."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pytest


@dataclass
class LossyDisk:
    """Sees each fsync, and remembers what it put on the disk. What lay beneath `root` before is there for good.

    A disk may keep more than it must: this one keeps nothing that it may lose. Files and folders are known by their
    inodes, each of which is held open, so that no other file gets its number meanwhile.
    """

    root: Path
    _bytes: dict[int, bytes] = field(default_factory=dict)
    _names: dict[int, dict[str, int]] = field(default_factory=dict)
    _held: list[int] = field(default_factory=list)

    def begin(self, patch: pytest.MonkeyPatch) -> Self:
        """Take the place of fsync from now on. Where it does not reach the disk (macOS), what does is not asked."""
        patch.setattr(os, "fsync", self._synced)
        patch.delattr("fcntl.F_FULLFSYNC", raising=False)
        for folder, folders, files in os.walk(self.root):
            for name in (*files, *folders, "."):
                descriptor = os.open(Path(folder, name), os.O_RDONLY)
                self._synced(descriptor)
                os.close(descriptor)
        return self

    def end(self) -> None:
        """Let go of what is held open."""
        while self._held:
            os.close(self._held.pop())

    def left(self) -> dict[str, bytes | None]:
        """Return what a power cut would leave now, by names beneath the root: bytes of files, None for folders."""
        return dict(self._beneath(self.root.stat().st_ino, ""))

    def _beneath(self, folder: int, prefix: str) -> list[tuple[str, bytes | None]]:
        found = list[tuple[str, bytes | None]]()
        for name, inode in self._names.get(folder, {}).items():
            if inode in self._folders:
                found += [(prefix + name, None), *self._beneath(inode, f"{prefix}{name}/")]
            else:
                found.append((prefix + name, self._bytes.get(inode, b"")))
        return found

    @property
    def _folders(self) -> set[int]:
        return {os.fstat(held).st_ino for held in self._held if stat.S_ISDIR(os.fstat(held).st_mode)}

    def _synced(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        self._held.append(os.dup(descriptor))
        if not stat.S_ISDIR(status.st_mode):
            self._bytes[status.st_ino] = Path(f"/dev/fd/{descriptor}").read_bytes()
            return
        names = dict[str, int]()
        for name in os.listdir(descriptor):
            held = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=descriptor)
            self._held.append(held)
            names[name] = os.fstat(held).st_ino
        self._names[status.st_ino] = names
