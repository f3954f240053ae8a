"""Whether a program's output says anything new, or repeats itself: exploring or spinning (H9)."""

from __future__ import annotations

import re
from typing import Final

WINDOW: Final = 131_072
"""How many bytes before and after a moment are compared."""

_ESCAPE: Final = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_BREAK: Final = re.compile(r"[\r\n]+")
_SIGNS: Final = re.compile(r"[\W\d_]+")


def says_anything_new(log: bytes, since: int) -> bool:
    """Return whether what was printed from byte `since` on has a line that was not there before.

    Colours, cursor movements, numbers, spinners and spaces make no line a new one.
    """
    earlier, later = log[max(0, since - WINDOW) : since], log[since:][-WINDOW:]
    return bool(_lines(later) - _lines(earlier))


def _lines(data: bytes) -> set[str]:
    text = _ESCAPE.sub(b" ", data).decode("utf-8", "replace")
    return {plain for line in _BREAK.split(text) if (plain := _SIGNS.sub(" ", line).strip().casefold())}
