"""Leases: one writer per folder, and so many agents on a host and with one CLI's account, across all tasks.

Recomputed from the live runs, never kept.

Runs queue in the order in which they were opened: for their tree, then for a place with their CLI, then for one on
their host. A run that waits in one queue takes nothing of the queues behind it, so that no place stays empty for it.
Only the first in the queue of a host keeps its place with its CLI meanwhile: otherwise runs on other hosts could take
it for ever. Nobody waits in a circle: each waits for runs that work, or for earlier ones.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum


class Queue(StrEnum):
    """What a run waits for before it may be launched; `NONE` if it waits for nothing, or was not asked yet."""

    NONE = ""
    TREE = "tree"  # somebody else writes where it is to work
    CLI = "cli"  # as many use its agent CLI as may
    HOST = "host"  # as many are on its host as may be


@dataclass(frozen=True, slots=True)
class Lease:
    """A live run that writes in the folder `path`, an absolute one, and in all beneath it; on a `box`, if on one.

    Without a path it only takes its place there, if `place` says so. `cli` is the agent CLI whose account it uses, if
    any. Of a run that has ended, only the folder counts. `opened_at` and `run` say where in the queues it stands,
    `waits` in which of them. `begun` is false until somebody tries to launch it.
    """

    path: str
    run: str
    task: str
    box: str = ""
    cli: str = ""
    place: bool = True
    opened_at: float = 0.0
    waits: Queue = Queue.NONE
    begun: bool = True

    @property
    def turn(self) -> tuple[float, str]:
        """Where it stands in every queue: the lowest comes first."""
        return self.opened_at, self.run


def queue_of(
    wanted: Lease, leases: Iterable[Lease], on_host: int | None, per_cli: int | None
) -> tuple[Queue, Lease | None]:
    """Return in which queue a run stands, and who keeps it out of its tree.

    Args:
        wanted: what the run will hold.
        leases: what all live runs hold or wait for.
        on_host: how many may be on its host at once; None: any number.
        per_cli: how many may use its agent CLI at once; None: any number.

    """
    held = _ahead_of(wanted, leases)
    if wanted.path and (holder := may_take(held, wanted.path)) is not None:
        return Queue.TREE, holder
    if wanted.cli and per_cli is not None and is_used(held, wanted.cli, per_cli):
        return Queue.CLI, None
    if on_host is not None and is_full(held, wanted.box, on_host):
        return Queue.HOST, None
    return Queue.NONE, None


def _ahead_of(wanted: Lease, leases: Iterable[Lease]) -> list[Lease]:
    """Return what others hold that a run must respect: those that work, and those ahead of it in the queues."""
    others = [lease for lease in leases if lease.run != wanted.run]
    earlier = [lease for lease in others if lease.turn < wanted.turn]
    later = [lease for lease in others if lease.turn > wanted.turn and lease.begun]
    working = [lease for lease in (*earlier, *later) if lease.waits is Queue.NONE]
    return [*working, *_kept_by_waiting(earlier)]


def _kept_by_waiting(leases: Iterable[Lease]) -> Iterator[Lease]:
    """Yield what runs keep that wait: their place in the queue, and nothing of the queues behind it."""
    boxes = set[str]()
    for lease in sorted(leases, key=lambda each: each.turn):
        match lease.waits:
            case Queue.NONE:
                pass
            case Queue.TREE:
                yield replace(lease, place=False, cli="")
            case Queue.CLI:
                yield replace(lease, place=False)
            case Queue.HOST:
                yield lease if lease.box not in boxes else replace(lease, cli="")
                boxes.add(lease.box)


def may_take(leases: Iterable[Lease], path: str) -> Lease | None:
    """Return who keeps a new writer out of `path`; None if it may start.

    A writer in a folder above or beneath it keeps it out as well. Links are not looked through: the caller
    resolves them, as this reads no disk.
    """
    wanted = _parts(path)
    for lease in leases:
        if not lease.path:
            continue
        held = _parts(lease.path)
        shared = min(len(held), len(wanted))
        if held[:shared] == wanted[:shared]:
            return lease
    return None


def is_full(leases: Iterable[Lease], box: str, cap: int) -> bool:
    """Return whether as many runs are on a box as it may have; an empty name is this machine."""
    return sum(lease.place and lease.box == box for lease in leases) >= cap


def is_used(leases: Iterable[Lease], cli: str, cap: int) -> bool:
    """Return whether as many runs use an agent CLI as may use it at once, on whatever host."""
    return sum(lease.cli == cli for lease in leases) >= cap


def _parts(path: str) -> list[str]:
    return [part for part in posixpath.normpath(path).split("/") if part]
