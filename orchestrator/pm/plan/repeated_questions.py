"""The same question, or a similar one, again and again (W5)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

ALIKE: Final = 60.0
"""Two texts ask for the same thing from this similarity on, of 100."""

LONGEST: Final = 1000
"""How many characters of a text are compared."""

_WORD: Final = re.compile(r"[^\W\d_]{2,}")


def times_asked(earlier: Iterable[str], text: str) -> int:
    """Return how often the same was asked, including this time."""
    return 1 + sum(is_similar(text, each) for each in earlier)


def is_similar(one: str, other: str) -> bool:
    """Return whether two texts ask for the same. Order, numbers, case and punctuation do not count.

    The measure is RapidFuzz's ratio of the sorted words. It is loaded when it is first needed: most tasks never are.
    """
    from rapidfuzz.fuzz import token_sort_ratio

    first, second = _words(one), _words(other)
    return first == second or (bool(first and second) and token_sort_ratio(first, second) >= ALIKE)


@lru_cache(maxsize=512)
def _words(text: str) -> str:
    return " ".join(_WORD.findall(text[:LONGEST].casefold()))
