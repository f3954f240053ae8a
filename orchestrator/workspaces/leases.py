"""Leases: one writer per folder, and so many on a box of a pool, across all tasks.

Recomputed from the live runs, never kept.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lease:
    """A live run that writes in the folder `path`, an absolute one, and in all beneath it; on a `box`, if on one.

    Without a path it only takes its room there.
    """

    path: str
    run: str
    task: str
    box: str = ""


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
    """Tell whether as many runs are on a box as it may have."""
    return sum(lease.box == box for lease in leases) >= cap


def _parts(path: str) -> list[str]:
    return [part for part in posixpath.normpath(path).split("/") if part]
