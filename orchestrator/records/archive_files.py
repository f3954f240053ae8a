"""The files of an archive of handoffs: read with suspicion when it is opened, and written whole (C6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.formats.coordination.fields import is_handoff_id
from orchestrator.formats.coordination.handoff import SUFFIX
from orchestrator.formats.coordination.records import INDEX, is_chain_id, read_chain
from orchestrator.formats.text import FILE_BYTES
from orchestrator.model.coordination import HandoffChain, RoleHandoff, moment
from orchestrator.model.errors import Refused
from orchestrator.model.names import beneath
from orchestrator.records.filed_handoffs import FiledHandoff, filed
from orchestrator.records.handoff_versions import CONFLICT, HandoffVersion, ReadHandoffs, read_version

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.ports.files import Entry, Files

DAMAGED: Final = "damaged_"
"""How the names of chains begin that did not read, and were made again."""

_VERSIONS: Final = 100
"""As many versions of one handoff are taken from another archive, at most."""


@dataclass(frozen=True, slots=True)
class UnreadRecord:
    """A file in the archive that is no record, and why. It stays where it is, and is not counted."""

    path: Path
    reason: str


class ArchiveFiles:
    """The files of an archive, as they were read. `known`: handoffs that were read already."""

    def __init__(self, files: Files, root: Path, known: ReadHandoffs | None = None) -> None:
        self._files = files
        self._root = root
        self._parsed = known or ReadHandoffs()
        self._quick = False
        self._kept: dict[str, FiledHandoff] = {}
        self._tasks: dict[str, set[str]] = {}
        self._aside: dict[str, set[tuple[str, str]]] = {}
        self._chains: dict[str, tuple[str, HandoffChain]] = {}
        self._unread: list[UnreadRecord] = []
        self._former: list[Path] = []
        self._changed: dict[str, int] = {}
        self._linked: dict[str, int] = {}
        for date, entry in self._scan():
            self._note(date, entry)

    # Looking ------------------------------------------------------------------------------------------

    @property
    def unread(self) -> tuple[UnreadRecord, ...]:
        """The files that are no records, as they were when the archive was opened."""
        return tuple(self._unread)

    @property
    def is_there(self) -> bool:
        """Whether its index lies where it was written last: else somebody removed it, and perhaps more."""
        entry = self._files.entry(self._root / INDEX)
        return not self._kept or (entry is not None and entry.is_file)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all handoffs, oldest first."""
        return tuple(sorted(self._kept, key=lambda each: (self._kept[each].at, each)))

    @property
    def chains(self) -> tuple[HandoffChain, ...]:
        """All chains, by task."""
        return tuple(chain for _, (_, chain) in sorted(self._chains.items()))

    def handoff(self, identifier: str) -> RoleHandoff:
        """Return a handoff. Raises Refused if there is none of that id, or if its file does not read any more."""
        return self._read(identifier)[0]

    # Parts --------------------------------------------------------------------------------------------

    def _scan(self) -> Iterator[tuple[str, Entry]]:
        """Yield the entries of the folders of dates, in order."""
        for folder in sorted(self._files.entries(self._root), key=lambda each: each.name):
            if folder.name == INDEX and folder.is_file:
                continue
            if moment(f"{folder.name}T00:00:00Z") is None or not folder.is_folder:
                self._unread.append(UnreadRecord(self._root / folder.name, "is no folder of a date"))
                continue
            for entry in sorted(self._files.entries(self._root / folder.name), key=lambda each: each.name):
                yield folder.name, entry

    def _note(self, date: str, entry: Entry) -> None:
        """Remember a file of the archive, or why it is none."""
        try:
            self._add(date, entry)
        except Refused as problem:
            self._unread.append(UnreadRecord(self._root / date / entry.name, str(problem)))

    def _add(self, date: str, entry: Entry) -> None:
        """Remember a file of the archive. Raises Refused if it is no record."""
        stem = entry.name.removesuffix(SUFFIX)
        path = self._root / date / entry.name
        if stem.startswith((CONFLICT, DAMAGED)):
            identifier = stem.removeprefix(CONFLICT).rpartition("_")[0]
            if is_handoff_id(identifier) and stem != entry.name:
                self._aside.setdefault(identifier, set()).add((date, entry.name))
            return
        if not entry.is_file:
            raise Refused("is no plain file")
        if is_handoff_id(stem) and stem != entry.name:
            kept = filed(self._parsed.read(self._files.read(path, FILE_BYTES), entry.name))
            if kept.date != date or stem in self._kept:
                raise Refused(f"belongs into the folder {kept.date}, once")
            self._kept[stem] = kept
            self._tasks.setdefault(kept.task, set()).add(stem)
            self._changed[kept.task] = max(self._changed.get(kept.task, 0), entry.mtime_ns)
        elif is_chain_id(stem) and stem != entry.name:
            chain = read_chain(self._files.read(path, 16 * FILE_BYTES), entry.name, 16 * FILE_BYTES)
            if chain.id != stem:
                raise Refused(f"is the chain {chain.id}, and not that of its name")
            if chain.task in self._chains:  # killed when a chain had moved to an earlier day
                self._former.append(path)
                return
            self._chains[chain.task] = (date, chain)
            self._linked[chain.task] = entry.mtime_ns
        else:
            raise Refused("is neither a handoff nor a chain by its name")

    def _read(self, identifier: str) -> tuple[RoleHandoff, bytes]:
        kept = self._kept.get(identifier)
        if kept is None:
            raise Refused(f"the archive has no handoff {identifier[:60]!a}")
        name = f"{identifier}{SUFFIX}"
        data = self._files.read(beneath(self._root, kept.date, name), FILE_BYTES)
        return self._parsed.read(data, name), data

    def _write(self, date: str, name: str, data: bytes, *, new: bool = False) -> None:
        folder = beneath(self._root, date)
        there = self._files.entry(folder)
        if there is not None and not there.is_folder:
            raise Refused(f"{folder} is a link or a file: move it away")
        self._files.make_folder(folder)
        self._files.write(beneath(folder, name), data, durable=not (new and self._quick))

    def _forget(self, identifier: str, date: str) -> None:
        """Take the file of a handoff away that will lie elsewhere."""
        was = self._kept.pop(identifier)
        self._tasks[was.task].discard(identifier)
        if was.date != date:
            self._files.remove(beneath(self._root, was.date, f"{identifier}{SUFFIX}"))

    def _places(self, identifier: str) -> list[tuple[str, str]]:
        """Return the dates and the names of the files in which the versions of a handoff lie."""
        kept = self._kept.get(identifier)
        own = [(kept.date, f"{identifier}{SUFFIX}")] if kept is not None else []
        return own + sorted(self._aside.get(identifier, ()))

    def _own_versions(self, identifier: str) -> list[HandoffVersion]:
        """Return the versions of a handoff. Raises Refused if one does not read: nothing is written over it."""
        return [
            read_version(self._files.read(beneath(self._root, *place), FILE_BYTES), identifier, self._parsed)
            for place in self._places(identifier)
        ]

    def _versions(self, identifier: str, unread: list[UnreadRecord]) -> Iterator[HandoffVersion]:
        """Yield the versions of a handoff that read, and add the files that do not to `unread`."""
        places = self._places(identifier)
        for place in places[:_VERSIONS]:
            path = beneath(self._root, *place)
            try:
                yield read_version(self._files.read(path, FILE_BYTES), identifier, self._parsed)
            except (Refused, OSError) as problem:
                unread.append(UnreadRecord(path, str(problem)))
        for place in places[_VERSIONS:]:
            reason = f"is one of more than {_VERSIONS} versions of one handoff"
            unread.append(UnreadRecord(beneath(self._root, *place), reason))
