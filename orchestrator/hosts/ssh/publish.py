"""From the mirror of a box into the folders here: each file whole, as `reconcile` decides, and recorded."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.hosts.ssh.bounds import LARGEST
from orchestrator.hosts.ssh.pulled_files import Known, Stamp, stamp
from orchestrator.hosts.ssh.reconcile import NOT_PLAIN, Deed, Kind, Step, kept_name, kind_of, steps
from orchestrator.ports.files import Entry, Files, Unreadable

_SHARED: Final = frozenset({Kind.ARTIFACT, Kind.HANDOFF})
MANY: Final = 32
"""From this many files on, one sync of the disks is cheaper than two per file (14 ms each on a busy disk, measured)."""

_KEPT: Final = "kept"
_OF_THE_NAME: Final = frozenset(
    {errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM}
)
"""Errors that concern one name; all others concern the disk."""


class _Changed(Exception):
    """The file here is not the one that was examined: it is examined again."""


class _FolderGone(Exception):
    """The task's folder is gone: its user is asked about it, and what comes waits for the answer."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """The result of a pull, by names relative to the task's folder or home; for the PM's log.

    `kept` are conflicts: a name, and where the local file was moved. `refused`: a name, and why it was not fetched;
    each is reported once. `more`: pull again soon. `waits`: a report waits for artifacts that it names, and so does the
    end of its run; `gave_way`: something else was to be done first. `ended` says why the pull ended early; files
    fetched by then stay.
    """

    brought: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    more: bool = False
    ended: str = ""
    waits: bool = False
    gave_way: bool = False


def together(parts: Iterable[Pulled]) -> Pulled:
    """Return the combined result of consecutive parts of a pull."""
    parts = list(parts)
    return Pulled(
        tuple(chain.from_iterable(part.brought for part in parts)),
        tuple(chain.from_iterable(part.kept for part in parts)),
        tuple(chain.from_iterable(part.refused for part in parts)),
        any(part.more for part in parts),
        next((part.ended for part in parts if part.ended), ""),
        any(part.waits for part in parts),
        any(part.gave_way for part in parts),
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """The observation of a name: the digest there and here, and the stamps of both files."""

    there: str
    there_stamp: Stamp
    here: str | None
    here_stamp: Stamp | None

    @property
    def written_ns(self) -> int:
        """Return when it was written there, by the box's clock."""
        return self.there_stamp[1]


@dataclass(frozen=True, slots=True)
class Publisher:
    """Publishes one task's mirror. `folder` is the task's folder here, `home` the PM's own one of it.

    `largest` is the maximum size of a file in bytes.
    """

    files: Files
    known: Known
    mirror: Path
    folder: Path
    home: Path
    largest: int = LARGEST

    def news(self, runs: Collection[str], names: Iterable[str] | None = None) -> set[str]:
        """Return those of these names of the mirror, or of all its names, that differ from what was published last.

        It looks at each, and reads none.
        """
        found = set()
        for name in self._all() if names is None else names:
            if kind_of(name, runs) is not None:
                entry = self.files.entry(self.mirror / name)
                if entry is not None and entry.is_file and self._is_news(name, stamp(entry)):
                    found.add(name)
        return found

    def _is_news(self, name: str, seen: Stamp) -> bool:
        base = self.known.bases.get(name)
        return base is None or base.stamp != seen

    def _all(self) -> Iterator[str]:
        folders = [""]
        for folder in folders:
            for entry in self.files.entries(self.mirror / folder):
                name = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_folder:
                    folders.append(name)
                else:
                    yield name

    def publish(self, names: Collection[str], runs: Collection[str]) -> Pulled:
        """Publish these names of the mirror to their places here, and record that.

        What the disk cannot take now is published later: a name that was published and not recorded is examined once
        more, and found to be the same.
        """
        seen = {name: each for name in names if (each := self._look(name, runs)) is not None}
        there = {
            name: seen[name].there for name in sorted(seen, key=lambda name: (seen[name].written_ns, name))
        }
        here = {name: each.here for name, each in seen.items() if each.here is not None}
        base = {name: self.known.bases[name].digest for name in seen if name in self.known.bases}
        parts, todo = list[Pulled](), steps(there, base, here, runs)
        many = len(todo) > MANY
        try:
            for step in todo:
                self._take(step, seen[step.name], parts, many=many)
            if many:
                os.sync()
            self.known.keep()
        except _FolderGone:  # the end of a run comes behind its report, and so it waits too
            parts.append(Pulled(more=True, ended=f"{self.folder} is gone"))
        except OSError as problem:
            parts.append(Pulled(more=True, ended=f"the disk here cannot take it: {problem}"))
        return together(parts)

    def _look(self, name: str, runs: Collection[str]) -> _Seen | None:
        entry = self.files.entry(self.mirror / name)
        if entry is None or kind_of(name, runs) is None:
            return None
        there = self._digest(self.mirror / name, entry)
        if there == NOT_PLAIN:
            return None
        found = self.files.entry(self._place(name))
        if found is None:
            return _Seen(there, stamp(entry), None, None)
        return _Seen(there, stamp(entry), self._digest(self._place(name), found), stamp(found))

    def _take(self, step: Step, seen: _Seen, parts: list[Pulled], *, many: bool) -> None:
        """Carry out a step and record it. Raises _FolderGone, and OSError if that concerns the disk."""
        try:
            parts.extend(self._carry_out(step, seen, durable=not many))
        except _Changed:
            parts.append(Pulled(more=True))
        except OSError as problem:
            if problem.errno not in _OF_THE_NAME:
                raise
            parts.append(self.refuse(step.name, f"it cannot have this name here: {problem.strerror}"))
        else:
            if step.deed is not Deed.REFUSE:
                self.known.brought(step.name, seen.there, seen.there_stamp)

    def _carry_out(self, step: Step, seen: _Seen, *, durable: bool) -> Iterator[Pulled]:
        """Do what was decided about one name. Raises _Changed, _FolderGone, OSError."""
        match step.deed:
            case Deed.NOTHING:
                return
            case Deed.REFUSE:
                yield self.refuse(step.name, step.why)
            case Deed.BRING | Deed.KEEP_AND_BRING:
                if why := self._make_way(step):
                    yield self.refuse(step.name, why)
                    return
                place = self._place(step.name)
                found = self.files.entry(place)
                if (None if found is None else stamp(found)) != seen.here_stamp:
                    raise _Changed
                if step.deed is Deed.KEEP_AND_BRING:
                    yield self._keep(step)
                # Events are handled in the order of these times, wherever they were written.
                written = seen.written_ns if step.kind is Kind.EVENT else None
                data = self.files.read(self.mirror / step.name, self.largest)
                self.files.write(place, data, durable=durable, mtime_ns=written)
                yield Pulled((step.name,))

    def refuse(self, name: str, why: str) -> Pulled:
        """Return a refusal of a name, unless it was reported before."""
        return Pulled(refused=((name, why),) if self.known.is_new(name, why) else ())

    def sizes(self, within: tuple[str, ...]) -> dict[str, int]:
        """Return the sizes in bytes of the mirror's names that begin so."""
        names = [name for name in self._all() if name.startswith(within)]
        entries = {name: self.files.entry(self.mirror / name) for name in names}
        return {name: entry.size for name, entry in entries.items() if entry is not None}

    def make_folder(self, name: str) -> None:
        """Make a folder of artifacts here, if the mirror has it and nothing is in its place."""
        entry = self.files.entry(self.mirror / name)
        there = self.files.entry(self.folder) is not None  # it is never made here
        if there and entry is not None and entry.is_folder and not self._in_the_way(name, Kind.ARTIFACT):
            self.files.make_folder(self._place(name))

    def _make_way(self, step: Step) -> str:
        """Make the folders above a name, but never the task's own; return what is in the way, if anything is.

        Raises _FolderGone, OSError.
        """
        above = step.name.rpartition("/")[0]
        if step.kind in _SHARED and self.files.entry(self.folder) is None:
            raise _FolderGone
        if why := self._in_the_way(above, step.kind):
            return why
        self.files.make_folder(self._root(step.kind) / above)
        return ""

    def _in_the_way(self, folder: str, kind: Kind) -> str:
        path = self._root(kind)
        for part in folder.split("/"):
            path /= part
            entry = self.files.entry(path)
            if entry is None:
                return ""
            if not entry.is_folder:
                # A link could lead files from the box anywhere.
                return f"{path} is not a folder"
        return ""

    def _keep(self, step: Step) -> Pulled:
        """Move the local file to another name; a handoff to where it is not taken for one."""
        place = self._place(step.name)
        folder = place.parent
        if step.kind is Kind.HANDOFF:
            folder = layout.scratchpad(self.folder, _KEPT)
            self.files.make_folder(folder)
        for number in count(1):
            other = folder / kept_name(place.name, number)
            if self.files.entry(other) is None:
                # Moved, not copied: a process that has it open continues to write into the kept file.
                self.files.rename(place, other)
                return Pulled(kept=((step.name, str(other.relative_to(self.folder))),))
        raise AssertionError

    def _digest(self, path: Path, entry: Entry) -> str:
        if not entry.is_file:
            return NOT_PLAIN
        try:
            return sha256(self.files.read(path, self.largest)).hexdigest()
        except Unreadable:
            return NOT_PLAIN

    def _place(self, name: str) -> Path:
        first = name.partition("/")[0]
        return (self.folder if first in {"handoffs", "artifacts", "scratchpad"} else self.home) / name

    def _root(self, kind: Kind) -> Path:
        return self.folder if kind in _SHARED else self.home
