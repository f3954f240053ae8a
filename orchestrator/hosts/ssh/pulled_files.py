"""What was brought from a box, remembered on disk: so nothing is hashed twice, comes back, or is told again.

A file that only grows, made anew when most of it is out of date. A line that does not read is left out: what it told
is found out again, at the price of a look, of telling once more, or of a copy that is kept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from orchestrator.ports.files import Entry, Files, Unreadable

Stamp: TypeAlias = tuple[int, int, int]

TOLD: Final = 10_000
"""How many refusals are remembered; a box that has more of them is not told of again."""

_LIMIT: Final = 1_073_741_824
_SPARE: Final = 1_000  # lines out of date that are borne


@dataclass(frozen=True, slots=True)
class Base:
    """What was brought last under a name: its digest, and the stamp of the mirror's file then."""

    digest: str
    stamp: Stamp


def stamp(entry: Entry) -> Stamp:
    """Return what changes when a file of the mirror does: rsync puts a new one in its place."""
    return entry.inode, entry.mtime_ns, entry.size


class Known:
    """The memory of one task on one box. One thread at a time."""

    def __init__(self, files: Files, path: Path) -> None:
        self._files = files
        self._path = path
        self.bases: dict[str, Base] = {}
        self.told: dict[str, str] = {}
        self.prepared = False
        self._new: list[bytes] = []
        lines = self._read()
        if lines is None or lines > len(self.bases) + len(self.told) + _SPARE:
            self._write_anew()

    def prepare(self) -> None:
        """Remember that the folders there were made."""
        self.prepared = True
        self._note("prepared")

    def brought(self, name: str, digest: str, seen: Stamp) -> None:
        """Remember what was brought under a name. `seen` is the mirror's stamp of it."""
        if self.bases.get(name) != (base := Base(digest, seen)):
            self.bases[name] = base
            self._note("base", name, digest, seen)

    def tell(self, name: str, why: str) -> bool:
        """Return whether a refusal is to be told: not, if it was."""
        if self.told.get(name) == why or (name not in self.told and len(self.told) >= TOLD):
            return False
        self.told[name] = why
        self._note("told", name, why)
        return True

    def keep(self) -> None:
        """Put on the disk what was remembered since. Raises OSError."""
        if not self._new:
            return
        self._files.make_folder(self._path.parent)
        log = self._files.open_log(self._path)
        try:
            log.append(b"".join(self._new))
        finally:
            log.close()
        self._new.clear()

    def _note(self, *values: object) -> None:
        self._new.append(_line(*values))

    def _read(self) -> int | None:
        """Take in what the file tells; return its lines, or None if the last is cut off."""
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
            told = json.loads(line)
        except (ValueError, RecursionError):
            return
        match told:
            case ["prepared"]:
                self.prepared = True
            case ["base", str(name), str(digest), [int(inode), int(mtime), int(size)]]:
                self.bases[name] = Base(digest, (inode, mtime, size))
            case ["told", str(name), str(why)]:
                self.told[name] = why
            case _:
                pass

    def _write_anew(self) -> None:
        lines = [_line("prepared")] if self.prepared else []
        lines += [_line("base", name, base.digest, base.stamp) for name, base in self.bases.items()]
        lines += [_line("told", name, why) for name, why in self.told.items()]
        self._files.make_folder(self._path.parent)
        self._files.write(self._path, b"".join(lines))


def _line(*values: object) -> bytes:
    # Names that are no UTF-8 are halves of surrogate pairs, which ASCII can write.
    return json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
