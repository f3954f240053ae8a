"""Brace expansion, as bash and zsh do it and dash does not: `{a,b}` and `{1..3}`."""

from __future__ import annotations

import itertools
import re
from typing import Final

from orchestrator.formats.shell.tree import Text, Word
from orchestrator.pm.permissions.fields import TOKEN

_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_RANGE: Final = re.compile(r"(?:-?[0-9]{1,9}\.\.-?[0-9]{1,9}|[A-Za-z]\.\.[A-Za-z])(?:\.\.-?[0-9]{1,9})?")
_MOST: Final = 64


def braced(word: Word) -> tuple[Word, ...] | None:
    """Return the words that a shell with brace expansion makes of one; None if that cannot be determined."""
    texts = [part.text for part in word.parts if isinstance(part, Text) and not part.quoted]
    if not any("{" in text for text in texts):
        return (word,)
    if any(text.count("{") != text.count("}") for text in texts):
        return None if "," in "".join(texts) or ".." in "".join(texts) else (word,)
    ways = [
        [Text(each) for each in _expanded(part.text)]
        if isinstance(part, Text) and not part.quoted
        else [part]
        for part in word.parts
    ]
    found = tuple(Word(parts) for parts in itertools.islice(itertools.product(*ways), _MOST + 1))
    return found if len(found) <= _MOST else None


def _expanded(text: str) -> list[str]:
    """Return what one unquoted text becomes; a range is a mark."""
    found = [text]
    while len(found) <= _MOST:
        at = next((at for at, each in enumerate(found) if _first(each)), None)
        if at is None:
            return found
        each = found[at]
        braces = _first(each)
        if braces is None:
            return found
        parts = [TOKEN] if _RANGE.fullmatch(braces[1]) else braces[1].split(",")
        found[at : at + 1] = [each[: braces.start()] + part + each[braces.end() :] for part in parts]
    return found


def _first(text: str) -> re.Match[str] | None:
    return next((one for one in _BRACES.finditer(text) if "," in one[1] or _RANGE.fullmatch(one[1])), None)
