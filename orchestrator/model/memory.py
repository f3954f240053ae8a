"""What was learned, as `scripts/memory-write.sh` and `task memory add` write it (C5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MemoryKind(StrEnum):
    """What kind of knowledge a memory is."""

    EPISODIC = "episodic"  # what happened
    PROCEDURAL = "procedural"  # how to do something
    SEMANTIC = "semantic"  # what holds


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory. Moments are ISO 8601. `misled` is when somebody marked it as misleading; None: nobody did.

    `others` are fields that the format does not name: path and JSON text of each.
    """

    id: str
    content: str
    kind: MemoryKind
    importance: float
    tags: tuple[str, ...]
    created: str
    misled: str | None = None
    others: tuple[tuple[tuple[str, ...], str], ...] = ()
