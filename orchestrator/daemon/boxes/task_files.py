"""The files here that transfers from boxes may change: those of a task until the daemon releases it, and none after.

A transfer may be under way when a task is deleted or archived. What it has fetched must not be published any more, or
the folders of that task would come to be again. So each change of a file is either done before the release, or refused.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.files import Entry, Files, Log

PATIENCE: Final = 0.05
"""Seconds that a release waits for a change under way, which is that of one file: the deciding thread asks for it."""


class Released(Refused):
    """The task was released: nothing of it may change here any more."""


@dataclass(slots=True)
class TaskGate:
    """Lets the changes of one task's files pass, one at a time, until it is closed. Safe to call from any thread."""

    task: str
    _is_open: bool = True
    _changing: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Hold the gate open for one change. Raises Released."""
        with self._changing:
            if not self._is_open:
                raise Released(f"{self.task} was released: nothing of it is changed here")
            yield

    def close(self, patience: float = PATIENCE) -> bool:
        """Let nothing pass any more; return False, and change nothing, if a change does not end in time."""
        if not self._changing.acquire(timeout=patience):
            return False
        self._is_open = False
        self._changing.release()
        return True

    def open(self) -> None:
        """Let changes pass again: the task is here again."""
        self._is_open = True


@dataclass(frozen=True, slots=True)
class TaskFiles:
    """The port `Files` for transfers of one task: each change raises Released once the gate is closed."""

    files: Files
    gate: TaskGate

    # What changes something -----------------------------------------------------------------------

    def write(
        self,
        path: Path,
        data: bytes,
        mode: int = 0o600,
        *,
        durable: bool = True,
        mtime_ns: int | None = None,
    ) -> None:
        """Put `data` at `path`."""
        with self.gate.passed():
            self.files.write(path, data, mode, durable=durable, mtime_ns=mtime_ns)

    def create(self, path: Path, data: bytes, mode: int = 0o600, *, durable: bool = True) -> bool:
        """Put `data` at `path`, if nothing is there."""
        with self.gate.passed():
            return self.files.create(path, data, mode, durable=durable)

    def exchange(self, path: Path, data: bytes, mode: int = 0o600) -> Path | None:
        """Put `data` at `path`, and return where what was there lies now."""
        with self.gate.passed():
            return self.files.exchange(path, data, mode)

    def open_log(self, path: Path) -> Log:
        """Open a file for appending: a file of ours, which nobody publishes."""
        with self.gate.passed():
            return self.files.open_log(path)

    def make_folder(self, folder: Path, mode: int = 0o700) -> None:
        """Make a folder and what is missing above it."""
        with self.gate.passed():
            self.files.make_folder(folder, mode)

    def rename(self, old: Path, new: Path) -> None:
        """Rename within a file system."""
        with self.gate.passed():
            self.files.rename(old, new)

    def remove(self, path: Path, *, durable: bool = True) -> None:
        """Remove a file."""
        with self.gate.passed():
            self.files.remove(path, durable=durable)

    # What only looks ------------------------------------------------------------------------------

    def read(self, path: Path, limit: int = 67_108_864, start: int = 0) -> bytes:
        """Return the bytes of a plain file."""
        return self.files.read(path, limit, start)

    def entries(self, folder: Path) -> list[Entry]:
        """Return what lies in a folder."""
        return self.files.entries(folder)

    def names(self, folder: Path) -> list[str]:
        """Return the names in a folder."""
        return self.files.names(folder)

    def entry(self, path: Path) -> Entry | None:
        """Return one name's entry."""
        return self.files.entry(path)

    def being_written(self, path: Path) -> bool:
        """Tell whether some process has the file open for writing."""
        return self.files.being_written(path)

    def real(self, path: Path) -> Path:
        """Return where an absolute path leads."""
        return self.files.real(path)
