"""In which order memories are shown: by relevance, importance and age (C5). Pure.

The score of a memory is `0.6 × relevance + 0.25 × importance + 0.15 × freshness`, each from 0 to 1:

- relevance: how well it matches the words, in proportion to the best match; 1 where no words are given;
- importance: as it was written;
- freshness: halves with each half-life of its kind. What happened ages fast, what holds ages slowly.

A memory that misled has a quarter of its score, so it comes after all of its like, and is still found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from orchestrator.model.coordination import moment
from orchestrator.model.memory import Memory, MemoryKind

RELEVANCE: Final = 0.6
IMPORTANCE: Final = 0.25
FRESHNESS: Final = 0.15
MISLED: Final = 0.25
"""What the score of a memory that misled is multiplied by."""

HALF_LIFE: Final[Mapping[MemoryKind, float]] = {
    MemoryKind.EPISODIC: 30.0,
    MemoryKind.PROCEDURAL: 180.0,
    MemoryKind.SEMANTIC: 365.0,
}
"""Days after which a memory is half as fresh."""

WORDS: Final = 32
"""How many words of a search count."""

_DAY: Final = 86_400.0
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Match:
    """A memory with what it was found by. `relevance` is from 0 to 1."""

    memory: Memory
    relevance: float
    project: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which memories are looked for: of a kind, with all these tags, of this importance at least."""

    kind: MemoryKind | None = None
    tags: tuple[str, ...] = ()
    importance: float = 0.0

    def takes(self, memory: Memory) -> bool:
        """Return whether a memory is one of them. Tags are compared without case."""
        have = {tag.casefold() for tag in memory.tags}
        return (
            self.kind in {None, memory.kind}
            and memory.importance >= self.importance
            and all(tag.casefold() in have for tag in self.tags)
        )


def score(match: Match, now: float) -> float:
    """Return the score of a memory at a moment (seconds since the epoch), from 0 to 1."""
    memory = match.memory
    age = max(now - (moment(memory.created) or 0.0), 0.0) / _DAY
    freshness: float = 0.5 ** (age / HALF_LIFE[memory.kind])
    whole = RELEVANCE * match.relevance + IMPORTANCE * memory.importance + FRESHNESS * freshness
    return whole * MISLED if memory.misled else whole


def ranked(matches: Iterable[Match], now: float) -> list[Match]:
    """Return matches, the best first; equal ones by age, then by id, so that the order is always the same."""
    return sorted(
        matches,
        key=lambda each: (
            -score(each, now),
            -(moment(each.memory.created) or 0.0),
            each.memory.id,
            each.project,
        ),
    )


def relevances(ranks: Mapping[str, float]) -> dict[str, float]:
    """Return the relevance of each memory, from 0 to 1, of ranks by BM25: negative, the best is the smallest."""
    best = min(ranks.values(), default=0.0)
    return {key: rank / best if best < 0 else 1.0 for key, rank in ranks.items()}


def query_of(text: str) -> str:
    """Return a search as FTS5 reads it: any of the words, by its beginning. Nothing in it is an operator.

    Empty where the text has no word.
    """
    words = dict.fromkeys(_WORD.findall(text))
    return " OR ".join(f'"{word}"*' for word in list(words)[:WORDS])
