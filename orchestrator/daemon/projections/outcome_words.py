"""How a task's result names things: short texts, counts, and how many more there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.text import cut, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence


LONGEST: Final = 240
"""How many characters of a foreign text one of the lines shows."""


NAMED: Final = 5


def more_than_named(found: Sequence[object], what: str) -> list[str]:
    """Return how many more there are than the ones named."""
    return [f"{len(found) - NAMED} more {what}"] if len(found) > NAMED else []


def counted_as(number: int, what: str) -> str:
    """Return a number of things: `1 file`, `2 files`."""
    return f"{number} {what}" + ("" if number == 1 else "s")


def shortened(text: str, limit: int = LONGEST) -> str:
    """Return a text as part of one line, of at most `limit` characters."""
    return cut(one_line(text).replace("`", "'"), limit)  # backquotes are for our own commands
