"""Text of others in progress.md: no secret, no control character, no markup that acts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from orchestrator.formats.redact import redacted
from orchestrator.formats.text import cut, one_line

CELL_LENGTH: Final = 200
TEXT_LENGTH: Final = 1000

_ACTS: Final = re.compile(
    r"[|\\]|!(?=\[)|(?<=\])[(\[:]"  # the end of a cell, escapes, images, links and what they refer to
    r"|<(?=[A-Za-z/!?])|&(?=#?[A-Za-z0-9]{1,32};)"
    # At the beginning: headings, quotes, fences, ticks, lists, rules.
    r"|^(?:#(?=#{0,5}(?:\s|$))|[>\[]|`(?=``)|~(?=~~)|[*+_-](?=[\s*_-])|[0-9]{1,9}(?=[.)](?:\s|$)))"
)
_IN_HTML: Final = {"<": "&lt;", "&": "&amp;"}


@lru_cache(maxsize=4096)
def shown(text: str, limit: int = CELL_LENGTH) -> str:
    """Return text of others as one line of ours shows it: no secret, no control character, no markup that acts."""
    line = cut(redacted(one_line(text[: 4 * TEXT_LENGTH])), limit)
    return _ACTS.sub(_told, line)


def _told(found: re.Match[str]) -> str:
    """Return a sign so that Markdown shows it and does not act on it."""
    sign = found[0]
    return f"{sign}\\" if sign.isdigit() else _IN_HTML.get(sign, f"\\{sign}")
