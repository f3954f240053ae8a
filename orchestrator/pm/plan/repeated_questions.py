"""The same question, or a similar one, again and again (W5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

ALIKE: Final = 0.6
"""Two texts ask for the same thing if they share this part of all their words."""

_WORD: Final = re.compile(r"[^\W\d_]{2,}")


def times_asked(earlier: Iterable[str], text: str) -> int:
    """Return how often the same was asked, including this time. Order, numbers and punctuation do not count."""
    words = _words(text)
    return 1 + sum(_alike(words, _words(each)) for each in earlier)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return one == other
    return len(one & other) / len(one | other) >= ALIKE


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
