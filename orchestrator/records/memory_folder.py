"""The memories of one folder of data: plain files, which are the truth (C5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.formats.coordination.memory import (
    MEMORY_BYTES,
    SUFFIX,
    checked_memory,
    is_memory_id,
    masked,
    read_memory,
    render_memory,
)
from orchestrator.model.coordination import iso
from orchestrator.model.errors import Refused
from orchestrator.model.memory import Memory

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.files import Entry, Files

FORGOTTEN: Final = "forgotten"
"""The folder beside the memories into which forgotten ones are moved."""

_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class RefusedMemory:
    """A file among the memories that is none, and why. It stays where it is."""

    path: Path
    reason: str


class MemoryFolder:
    """Reads, writes and moves memories. Each method looks at the disk anew.

    Methods raise Refused where a link or a file lies in the way, an id is none, or a memory is not there, and OSError
    where the disk fails.
    """

    def __init__(self, files: Files, data: Path) -> None:
        self._files = files
        self.path = data / layout.MEMORIES

    def entries(self) -> list[Entry]:
        """Return what lies there, by name, but for what the script prepares and the folder of forgotten ones."""
        self._check(self.path)
        found = [each for each in self._files.entries(self.path) if not each.name.startswith(".")]
        return sorted(
            (each for each in found if not (each.name == FORGOTTEN and each.is_folder)),
            key=lambda each: each.name,
        )

    def forgotten(self) -> list[str]:
        """Return the ids of forgotten memories, oldest first."""
        self._check(self.path)
        self._check(self.path / FORGOTTEN)
        stems = (each.removesuffix(SUFFIX) for each in self._files.names(self.path / FORGOTTEN))
        return sorted(each for each in stems if is_memory_id(each))

    def load(self, entry: Entry) -> Memory:
        """Return the memory of an entry. Raises Refused with the reason if it is none."""
        stem = entry.name.removesuffix(SUFFIX)
        if stem == entry.name or not is_memory_id(stem):
            raise Refused("is no memory by its name: mem_…_….json")
        if not entry.is_file:
            raise Refused("is not a plain file")
        return read_memory(self._files.read(self.path / entry.name, MEMORY_BYTES), entry.name)

    def add(self, memory: Memory, name: Callable[[], str]) -> tuple[Memory, bool]:
        """Write a memory under a new id, its secrets masked.

        Args:
            memory: What to write; its id does not count.
            name: Returns an id, another one each time.

        Returns:
            The memory as it was written, and whether something in it was masked.

        """
        self._check(self.path)
        self._files.make_folder(self.path, 0o755)
        for _ in range(_TRIES):
            written = checked_memory(masked(replace(memory, id=name())))
            if self._files.create(self._file(written.id), render_memory(written), 0o644):
                return written, (written.content, written.tags) != (memory.content, memory.tags)
        raise Refused(f"{self.path}: no id is free; try again")

    def read(self, identifier: str) -> tuple[Memory, bool]:
        """Return a memory, and whether it is a forgotten one."""
        path, away = self._find(identifier)
        return read_memory(self._files.read(path, MEMORY_BYTES), path.name), away

    def mark(self, identifier: str, misled: float | None) -> Memory:
        """Note when a memory misled (seconds since the epoch), or by None that it did not."""
        path, _ = self._find(identifier)
        base = self._files.read(path, MEMORY_BYTES)
        memory = replace(read_memory(base, path.name), misled=None if misled is None else iso(misled))
        if (data := render_memory(memory, base)) != base:
            self._files.write(path, data, 0o644)
        return memory

    def forget(self, identifier: str) -> Path:
        """Move a memory away, and return where it lies now. It is not found any more; `recall` undoes this."""
        path, away = self._find(identifier)
        if away:
            raise Refused(f"{identifier} is forgotten already")
        self._check(self.path / FORGOTTEN)
        self._files.make_folder(self.path / FORGOTTEN, 0o755)
        return self._move(path, self._file(identifier, away=True))

    def recall(self, identifier: str) -> Path:
        """Move a forgotten memory back, and return where it lies now."""
        path, away = self._find(identifier)
        if not away:
            raise Refused(f"{identifier} is not forgotten")
        return self._move(path, self._file(identifier))

    def _move(self, old: Path, new: Path) -> Path:
        if self._files.entry(new) is not None:
            raise Refused(f"{new} is there already: look at both, and take one away")
        self._files.rename(old, new)
        return new

    def _find(self, identifier: str) -> tuple[Path, bool]:
        """Return the file of a memory, and whether it is a forgotten one."""
        self._check(self.path)
        for away in (False, True):
            path = self._file(identifier, away=away)
            if self._files.entry(path) is not None:
                if away:
                    self._check(path.parent)
                return path, away
        raise Refused(f"there is no memory {identifier} in {self.path}: `task memory search` shows them")

    def _file(self, identifier: str, *, away: bool = False) -> Path:
        if not is_memory_id(identifier):
            raise Refused(f"{identifier[:80]!a} is no id of a memory: they look like mem_1702311000_abc123")
        return (self.path / FORGOTTEN if away else self.path) / f"{identifier}{SUFFIX}"

    def _check(self, folder: Path) -> None:
        there = self._files.entry(folder)
        if there is not None and not there.is_folder:
            raise Refused(f"{folder} is a link or a file: put a folder in its place")
