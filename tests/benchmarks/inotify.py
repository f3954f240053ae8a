"""Waiting for what happens in a folder, by the kernel's own word: sleeps, and wakes within 0.1 ms."""

from __future__ import annotations

import ctypes
import os
import select
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODIFY, MOVED_TO = 0x2, 0x80
_HEAD = struct.Struct("iIII")
_C = ctypes.CDLL(None, use_errno=True)


class Inotify:
    """A watch on one folder."""

    def __init__(self, folder: Path, mask: int = MODIFY | MOVED_TO) -> None:
        self.descriptor = _C.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self.descriptor < 0 or _C.inotify_add_watch(self.descriptor, os.fsencode(folder), mask) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))

    def wait(self, seconds: float) -> list[str]:
        """Return the names to which something happened; none when the time is up."""
        if not select.select([self.descriptor], [], [], max(seconds, 0))[0]:
            return []
        data, names, place = os.read(self.descriptor, 65536), list[str](), 0
        while place < len(data):
            length = _HEAD.unpack_from(data, place)[3]
            place += _HEAD.size
            names.append(os.fsdecode(data[place : place + length].rstrip(b"\0")))
            place += length
        return names

    def close(self) -> None:
        os.close(self.descriptor)


@contextmanager
def watched(folder: Path) -> Iterator[Inotify]:
    """Watch a folder for a while."""
    watch = Inotify(folder)
    try:
        yield watch
    finally:
        watch.close()
