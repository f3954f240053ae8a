"""The archive of handoffs: a file for each by date, a chain for each task, and an index (C6).

The handoffs are the truth. Chains and the index are made from them, and made again where they are missing, damaged or
say something else, so a kill between any two writes costs nothing: `open_archive` completes what was begun.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.formats.coordination.completeness import follows
from orchestrator.formats.coordination.handoff import SUFFIX, render_handoff
from orchestrator.formats.coordination.records import (
    INDEX,
    render_chain,
    render_index,
)
from orchestrator.formats.text import FILE_BYTES
from orchestrator.model.coordination import (
    ChainOutcome,
    HandoffChain,
    RoleHandoff,
    iso,
)
from orchestrator.model.errors import Refused
from orchestrator.model.names import beneath
from orchestrator.ports.files import Unreadable
from orchestrator.records.archive_files import DAMAGED, ArchiveFiles, UnreadRecord
from orchestrator.records.chains import chain_of
from orchestrator.records.filed_handoffs import filed, index_of
from orchestrator.records.handoff_versions import HandoffVersion, ReadHandoffs, latest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from orchestrator.ports.files import Files


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


class HandoffArchive(ArchiveFiles):
    """An archive, as it was read. One writer at a time; `open_archive` makes it."""

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

    # Merging ------------------------------------------------------------------------------------------

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
