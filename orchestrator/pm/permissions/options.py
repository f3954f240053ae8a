"""Whether a command is given one of some options, however it is spelled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from orchestrator.formats.shell_words import Word

_SHORT: Final = 2


def has_option(words: Sequence[Word], wanted: Iterable[str]) -> bool:
    """Return whether a word may be one of these options: alone, among other letters, with its value, or shortened."""
    return any(_may_be(word.text, each) for word in words[1:] for each in wanted)


def _may_be(text: str, option: str) -> bool:
    if option.startswith("--"):
        name = text.partition("=")[0]
        return name.startswith("--") and len(name) > _SHORT and option.startswith(name)
    if len(option) > _SHORT:  # find's and go's own: `-exec`
        return text.lstrip("-").partition("=")[0] == option[1:] and text.startswith("-")
    return text.startswith("-") and not text.startswith("--") and option[1] in text
