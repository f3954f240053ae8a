"""A record on disk of what was fetched from a box: so nothing is hashed twice, comes back, or is reported twice.

The file only grows, and is written anew when most of it is outdated. A line that cannot be parsed is skipped: its
content is found out again, at the price of a look, of a repeated report, or of a kept copy.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from orchestrator.ports.files import Entry, Files, Unreadable

Stamp: TypeAlias = tuple[int, int, int]

REFUSALS_KEPT: Final = 10_000
"""How many refusals are recorded; further ones of the same box are not reported."""

REASONS_KEPT: Final = 5
"""How often a name is reported as refused, each time for another reason; further reasons are not reported."""

_LIMIT: Final = 1_073_741_824
_SPARE: Final = 1_000  # outdated lines that are tolerated


@dataclass(frozen=True, slots=True)
class Base:
    """The last fetched version of a name: its digest, and the stamp of the mirror's file then."""

    digest: str
    stamp: Stamp


def stamp(entry: Entry) -> Stamp:
    """Return a value that changes when a file of the mirror does: rsync replaces it by a new one."""
    return entry.inode, entry.mtime_ns, entry.size


class Known:
    """The record of one task on one box. One thread at a time."""

    def __init__(self, files: Files, path: Path) -> None:
        self._files = files
        self._path = path
        self.bases: dict[str, Base] = {}
        self.refusals: dict[str, str] = {}
        self._reported: Counter[str] = Counter()
        self.prepared = False
        self._new: list[bytes] = []
        lines = self._read()
        self._lines = lines or 0
        if lines is None or self._is_outdated():
            self._write_anew()

    def prepare(self) -> None:
        """Record that the folders there were made."""
        self.prepared = True
        self._note("prepared")

    def brought(self, name: str, digest: str, seen: Stamp) -> None:
        """Record what was fetched under a name. `seen` is the mirror's stamp of it."""
        if self.bases.get(name) != (base := Base(digest, seen)):
            self.bases[name] = base
            self._note("base", name, digest, seen)

    def is_new(self, name: str, why: str) -> bool:
        """Record a refusal; return whether to report it: it is new, and there are not too many."""
        if self.refusals.get(name) == why or self._reported[name] >= REASONS_KEPT:
            return False
        if name not in self.refusals and len(self.refusals) >= REFUSALS_KEPT:
            return False
        self.refusals[name] = why
        self._reported[name] += 1
        self._note("told", name, why)
        return True

    def keep(self) -> None:
        """Write what was recorded since to the disk. Raises OSError."""
        if not self._new:
            return
        self._lines += len(self._new)
        if self._is_outdated():
            self._write_anew()
            return
        self._files.make_folder(self._path.parent)
        log = self._files.open_log(self._path)
        try:
            log.append(b"".join(self._new))
        finally:
            log.close()
        self._new.clear()

    def _is_outdated(self) -> bool:
        """Return whether most lines say nothing any more: an agent may write one file again each second."""
        current = len(self.bases) + self._reported.total()
        return self._lines > 2 * current + _SPARE

    def _note(self, *values: object) -> None:
        self._new.append(_line(*values))

    def _read(self) -> int | None:
        """Read the file; return its number of lines, or None if the last line is cut off."""
        try:
            data = self._files.read(self._path, _LIMIT)
        except Unreadable:
            return 0
        lines = data.split(b"\n")
        for line in lines:
            self._take(line)
        return None if lines[-1] else len(lines)

    def _take(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            return
        match entry:
            case ["prepared"]:
                self.prepared = True
            case ["base", str(name), str(digest), [int(inode), int(mtime), int(size)]]:
                self.bases[name] = Base(digest, (inode, mtime, size))
            case ["told", str(name), str(why)]:
                self.refusals[name] = why
                self._reported[name] += 1
            case _:
                pass

    def _write_anew(self) -> None:
        lines = [_line("prepared")] if self.prepared else []
        lines += [_line("base", name, base.digest, base.stamp) for name, base in self.bases.items()]
        for name, why in self.refusals.items():
            lines += [_line("told", name, why)] * self._reported[name]
        self._files.make_folder(self._path.parent)
        self._files.write(self._path, b"".join(lines))
        self._lines = len(lines)
        self._new.clear()


def _line(*values: object) -> bytes:
    # Names that are no UTF-8 are halves of surrogate pairs, which ASCII can write.
    return json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
