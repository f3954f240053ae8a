"""The archive of handoffs: a file for each by date, a chain for each task, and an index (C6).

The handoffs are the truth. Chains and the index are made from them, and made again where they are missing, damaged or
say something else, so a kill between any two writes costs nothing: `open_archive` completes what was begun.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from orchestrator.formats.coordination.completeness import follows
from orchestrator.formats.coordination.fields import is_handoff_id
from orchestrator.formats.coordination.handoff import SUFFIX, render_handoff
from orchestrator.formats.coordination.records import (
    INDEX,
    is_chain_id,
    read_chain,
    render_chain,
    render_index,
)
from orchestrator.formats.text import FILE_BYTES
from orchestrator.model.coordination import (
    ChainOutcome,
    HandoffChain,
    RoleHandoff,
    iso,
    moment,
)
from orchestrator.model.errors import Refused
from orchestrator.model.names import beneath
from orchestrator.ports.files import Unreadable
from orchestrator.records.chains import chain_of
from orchestrator.records.filed_handoffs import FiledHandoff, filed, index_of
from orchestrator.records.handoff_versions import CONFLICT, HandoffVersion, ReadHandoffs, latest, read_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
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


@dataclass(frozen=True, slots=True)
class ArchiveMerge:
    """What came of merging an archive: how many handoffs were new, went on, and are in conflict.

    `unread`: the files of the other archive that were not taken.
    """

    added: int
    advanced: int
    conflicts: tuple[str, ...]
    unread: tuple[UnreadRecord, ...] = ()


def open_archive(files: Files, root: Path, known: ReadHandoffs | None = None) -> HandoffArchive:
    """Return the archive in a folder, complete: what a kill left undone is done. `known`: handoffs read already.

    Raises:
        OSError: the disk fails.

    """
    archive = HandoffArchive(files, root, known)
    archive.complete()
    return archive


class HandoffArchive:
    """An archive, as it was read. One writer at a time; `open_archive` makes it."""

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

    # Writing ------------------------------------------------------------------------------------------

    def take(
        self, handoff: RoleHandoff, *, started: float | None = None, coverage: float | None = None
    ) -> None:
        """Put a handoff into the archive, or what became of one; the same one again changes nothing.

        Args:
            handoff: What was handed on.
            started: When its task began, if that is known: it is when the first role began to work.
            coverage: The test coverage, if something measured it.

        Raises:
            Refused: it has no id, moment, task, type or role; or it is another handoff than the one of its id; or a
                link or a file lies in the way.
            OSError: the disk fails.

        """
        kept, identifier = filed(handoff), handoff.head.id or ""
        known = self._kept.get(identifier)
        base = b""
        if known is not None:
            old, base = self._read(identifier)
            if reasons := follows(old, handoff):
                raise Refused(f"{identifier}: {'; '.join(reasons)}")
        data = render_handoff(handoff, base)
        if data != base:
            self._write(kept.date, f"{identifier}{SUFFIX}", data)
        self._kept[identifier] = kept
        self._tasks.setdefault(kept.task, set()).add(identifier)
        self._link(kept.task, (), started, coverage)
        self._count()

    def give_up(self, task: str, at: float) -> None:
        """Note that a task ended without coming to `complete`. Raises Refused if it has no chain."""
        if task not in self._chains:
            raise Refused(f"the archive has no handoff of the task {task[:60]!a}")
        given_up = replace(self._chains[task][1], completed=iso(at), outcome=ChainOutcome.FAILURE)
        self._link(task, (given_up,), None, None)
        self._count()

    def merge(
        self,
        other: HandoffArchive,
        flush: Callable[[], object] | None = None,
        told: Callable[[], object] = lambda: None,
    ) -> ArchiveMerge:
        """Take what another archive has; that one is only read. Which is merged into which makes no difference.

        Where one version of a handoff goes on from another, that one stays. Where neither does, both stay: the one of
        the smaller hash under its id, the other beside it under a name that begins with `conflict_`. What was set
        aside in earlier merges, here and there, takes part. After a kill, merging again goes on.

        Args:
            other: The other archive.
            flush: Puts all that was written on the disk. Given that, new files are not synced one by one.
            told: Called for each handoff that was looked at.

        Raises:
            Refused: a link or a file lies in the way here.
            OSError: the disk fails; merging again goes on.

        """
        self._quick = flush is not None
        unread, conflicts = list(other._unread), list[str]()
        known, advanced = set(self._kept), 0
        theirs = sorted({*other._kept, *other._aside})
        for identifier in theirs:
            told()
            found = list(other._versions(identifier, unread))
            wanted = latest([*self._own_versions(identifier), *found])
            if not found:
                continue
            if len(wanted) > 1:
                conflicts.append(identifier)
            if self._settle(identifier, wanted) and len(wanted) == 1 and identifier in known:
                advanced += 1
        self._link_all(other, set(theirs))
        if flush is not None:
            flush()
        self._count()
        return ArchiveMerge(len(set(self._kept) - known), advanced, tuple(conflicts), tuple(unread))

    def complete(self) -> None:
        """Make what is missing: the chains that lack a handoff or are older than one, and the index."""
        for task in sorted(self._tasks):
            if not self._is_linked(task):
                self._link(task, (), None, None)
        for path in self._former:
            self._files.rename(path, path.with_name(f"{DAMAGED}{path.name}"))
        self._former.clear()
        self._count()

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

    def _is_linked(self, task: str) -> bool:
        """Return whether a chain was written after all its handoffs. Times of files are coarse: equal ones say no."""
        if task not in self._chains or self._linked[task] <= self._changed[task]:
            return False
        return {each.id for each in self._chains[task][1].links} == self._tasks[task]

    def _link(
        self, task: str, before: Iterable[HandoffChain], started: float | None, coverage: float | None
    ) -> None:
        """Write the chain of a task, if that changes it. It lies at the date on which it was created."""
        there = self._chains.get(task)
        known = (*before, *([there[1]] if there else []))
        handoffs = [self._read(each)[0] for each in sorted(self._tasks[task])]
        chain = chain_of(task, handoffs, known, started, coverage)
        date = chain.created[:10]
        path = beneath(self._root, date, f"{chain.id}{SUFFIX}")
        found = self._files.entry(path)
        if found is not None and there is None:
            # It did not read: when the task began may still be seen in it.
            self._files.rename(path, path.with_name(f"{DAMAGED}{found.mtime_ns}_{path.name}"))
        if found is None or there != (date, chain):
            self._write(date, path.name, render_chain(chain), new=found is None and there is None)
        self._chains[task] = (date, chain)
        if there is not None and there[0] != date:
            self._files.remove(beneath(self._root, there[0], path.name))

    def _count(self) -> None:
        """Write the index, if that changes it."""
        if not self._kept:
            return
        data = render_index(index_of(self._kept.values(), [chain for _, chain in self._chains.values()]))
        path = self._root / INDEX
        try:
            there = self._files.read(path, FILE_BYTES) if self._files.entry(path) else b""
        except Unreadable:
            there = b""
        if there != data:
            self._files.write(path, data)

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

    # Merging ------------------------------------------------------------------------------------------

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

    def _settle(self, identifier: str, wanted: list[HandoffVersion]) -> bool:
        """Write the versions of a handoff that stay; return whether another one has the id now.

        What is set aside is written first and removed last, so that a kill loses none.
        """
        best, name = wanted[0], f"{identifier}{SUFFIX}"
        there, asides = (
            self._aside.pop(identifier, set()),
            {each.place_aside: each.data for each in wanted[1:]},
        )
        for place in sorted(asides.keys() - there):
            self._write(*place, asides[place])
        known = self._kept.get(identifier)
        own = None if known is None else self._read(identifier)[1]
        if own != best.data:
            if known is not None:
                self._forget(identifier, best.kept.date)
            self._write(best.kept.date, name, best.data, new=known is None)
            self._kept[identifier] = best.kept
            self._tasks.setdefault(best.kept.task, set()).add(identifier)
        for place in sorted(there - asides.keys()):
            self._files.remove(beneath(self._root, *place))
        if asides:
            self._aside[identifier] = set(asides)
        return own != best.data

    def _link_all(self, other: HandoffArchive, changed: set[str]) -> None:
        """Write the chains of the tasks of another archive, and take those away of which no handoff is left."""
        touched = {
            task
            for task, (_, chain) in self._chains.items()
            if not changed.isdisjoint(e.id for e in chain.links)
        }
        for task in sorted({*other._tasks, *touched}):
            if self._tasks.get(task):
                before = (other._chains[task][1],) if task in other._tasks and task in other._chains else ()
                self._link(task, before, None, None)
            elif task in self._chains:  # its only handoffs lie beside those of another task
                date, chain = self._chains.pop(task)
                self._files.remove(beneath(self._root, date, f"{chain.id}{SUFFIX}"))
