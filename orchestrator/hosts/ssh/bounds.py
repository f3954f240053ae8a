"""How much is fetched from a box: at once, and in all. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

COUNTED: Final = ("artifacts/", "scratchpad/")
"""The folders with a limit on the total that is fetched."""

RUNS: Final = "runs/"
"""The folder of the runs, with their logs."""

LARGEST: Final = 67_108_864
"""The default for the maximum size of a file that is fetched, in bytes."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on what is fetched of a task from one box; sizes in bytes.

    `largest` limits one file. `files` and `size` limit the artifacts, scratchpads and logs of one pull, `total` and
    `entries` the sum of all but logs, where an entry is a file or a folder above it; `logs` is the limit for logs.
    `control` and `control_files` limit the handoffs and events of one call, `control_total` and `control_total_files`
    the sum of these.
    """

    files: int = 1_000
    size: int = 268_435_456
    total: int = 4_294_967_296
    control: int = 67_108_864
    control_total: int = 268_435_456
    largest: int = LARGEST
    entries: int = 200_000
    logs: int = 1_073_741_824
    control_files: int = 10_000
    control_total_files: int = 200_000


@dataclass(slots=True)
class Room:
    """What may still come of a task in all: bytes and entries of artifacts and scratchpads, and bytes of logs."""

    size: int
    entries: int
    logs: int

    def fits(self, name: str, size: int) -> bool:
        """Return whether there is room for a file."""
        if name.startswith(COUNTED):
            return size <= self.size and _entries(name) <= self.entries
        return size <= self.logs or not name.startswith(RUNS)

    def take(self, name: str, size: int) -> None:
        """Count a file."""
        if name.startswith(COUNTED):
            self.size -= size
            self.entries -= _entries(name)
        elif name.startswith(RUNS):
            self.logs -= size


def room(fetched: Iterable[tuple[str, int]], bounds: Bounds) -> Room:
    """Return what is left of the totals after these files, given by name and size."""
    left = Room(bounds.total, bounds.entries, bounds.logs)
    for name, size in fetched:
        left.take(name, size)
    return left


def _entries(name: str) -> int:
    """Return how many entries of a disk a file may take: itself, and the folders above it."""
    return 1 + name.count("/")


@dataclass(slots=True)
class Quota:
    """What one transfer may still bring: bytes and files, and what there is room for, if that is bounded."""

    size: int
    files: int
    room: Room | None = None

    def copy(self) -> Quota:
        """Return one of its own to count with."""
        return Quota(self.size, self.files, None if self.room is None else replace(self.room))

    def take(self, name: str, size: int) -> bool:
        """Count a file, unless it is too much; return whether it was counted."""
        if size > self.size or self.files < 1 or (self.room is not None and not self.room.fits(name, size)):
            return False
        self.size -= size
        self.files -= 1
        if self.room is not None:
            self.room.take(name, size)
        return True


@dataclass(frozen=True, slots=True)
class Choice:
    """The part of a listing to fetch now, and its bytes; `later`: there is more for the next pull.

    `over` are names for which there is no room.
    """

    now: tuple[str, ...] = ()
    size: int = 0
    later: bool = False
    over: tuple[str, ...] = ()


def choice(listed: Iterable[tuple[str, int]], left: Room, bounds: Bounds) -> Choice:
    """Return which of the changed files, given with their sizes, to fetch now: the smallest first.

    So one tree of many gigabytes does not delay small files, and each pull ends. `left` is what there is room for.
    """
    left = replace(left)
    now, over, size, later = list[str](), list[str](), 0, False
    for each, large in sorted(listed, key=lambda file: (file[1], file[0])):
        if not left.fits(each, large):
            over.append(each)
        elif len(now) >= bounds.files or (now and size + large > bounds.size):
            later = True
        else:
            now.append(each)
            size += large
            left.take(each, large)
    return Choice(tuple(now), size, later, tuple(over))
