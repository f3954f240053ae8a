"""Which paths a step claims: two subtasks that claim the same are not worked on at the same time.

A claim is the fixed part of a path or pattern: `db/**` and `db/*.sql` both claim `db`, `db/x.py` claims itself, and a
pattern without a fixed part claims the whole project, which is written as an empty path. Two claims overlap if one is
the other or lies beneath it. That keeps apart a little more than it must (`db/*.py` and `db/*.sql`), and never less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WHOLE: Final = ""
"""The claim of a step that may change anything."""

_WILD: Final = frozenset("*?[")


def claims_of(files: Iterable[str]) -> tuple[str, ...]:
    """Return the claims of paths and patterns relative to the project, each once, in order."""
    return tuple(sorted({_fixed_part(each) for each in files}))


def above(claim: str) -> Iterator[str]:
    """Yield every claim that contains this one, the whole project last, and not itself."""
    while claim:
        claim = claim.rpartition("/")[0]
        yield claim


def overlap(one: Iterable[str], other: Iterable[str]) -> bool:
    """Return whether two lists of claims have anything in common."""
    mine, theirs = set(one), set(other)
    return any(not {claim, *above(claim)}.isdisjoint(theirs) for claim in mine) or any(
        not {claim, *above(claim)}.isdisjoint(mine) for claim in theirs
    )


def _fixed_part(pattern: str) -> str:
    fixed = []
    for part in pattern.split("/"):
        if _WILD & set(part):
            break
        if part not in {"", "."}:
            fixed.append(part)
    return "/".join(fixed)
