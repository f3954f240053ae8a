"""Which of some words and phrases occur in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_WORD: Final = re.compile(r"\w+")
_PART: Final = re.compile(r"\w+\*?")


def hits(text: str, phrases: Iterable[str]) -> tuple[str, ...]:
    """Return the phrases that occur in a text, in their order, each once.

    A phrase occurs where its words stand side by side, whatever their case and what parts them. A word that ends with
    `*` stands for every word that begins so.
    """
    words = _WORD.findall(text.casefold())
    return tuple(dict.fromkeys(phrase for phrase in phrases if _occurs(words, phrase)))


def _occurs(words: list[str], phrase: str) -> bool:
    wanted = _PART.findall(phrase.casefold())
    places = range(len(words) - len(wanted) + 1) if wanted else range(0)
    return any(all(_fits(words[at + number], part) for number, part in enumerate(wanted)) for at in places)


def _fits(word: str, part: str) -> bool:
    return word.startswith(part[:-1]) if part.endswith("*") else word == part
