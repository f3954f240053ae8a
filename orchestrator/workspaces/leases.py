"""Leases: one writer per folder, and so many agents on a host and with one CLI's account, across all tasks.

Recomputed from the live runs, never kept.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lease:
    """A live run that writes in the folder `path`, an absolute one, and in all beneath it; on a `box`, if on one.

    Without a path it only takes its place there. `cli` is the agent CLI whose account it uses, if any. Of a run that
    has ended, only the folder counts: `place` is false.
    """

    path: str
    run: str
    task: str
    box: str = ""
    cli: str = ""
    place: bool = True


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
    return sum(lease.place and lease.cli == cli for lease in leases) >= cap


def _parts(path: str) -> list[str]:
    return [part for part in posixpath.normpath(path).split("/") if part]
