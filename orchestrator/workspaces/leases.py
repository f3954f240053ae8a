"""Leases: one writer per folder, across all tasks. Recomputed from the live runs, never kept (design, section 7)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lease:
    """A live run that writes in the folder `path`, an absolute one, and in all beneath it."""

    path: str
    run: str
    task: str


def may_take(leases: Iterable[Lease], path: str) -> Lease | None:
    """Return who keeps a new writer out of `path`; None if it may start.

    A writer in a folder above or beneath it keeps it out as well. Links are not looked through: the caller
    resolves them, as this reads no disk.
    """
    wanted = _parts(path)
    for lease in leases:
        held = _parts(lease.path)
        shared = min(len(held), len(wanted))
        if held[:shared] == wanted[:shared]:
            return lease
    return None


def _parts(path: str) -> list[str]:
    return [part for part in posixpath.normpath(path).split("/") if part]
