"""Text of others as progress.md shows it: nothing in it acts as markup, and no secret is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
    return _ACTS.sub(_escaped, line)


def _escaped(found: re.Match[str]) -> str:
    """Return a sign so that Markdown shows it and does not act on it."""
    sign = found[0]
    return f"{sign}\\" if sign.isdigit() else _IN_HTML.get(sign, f"\\{sign}")


def with_commands(text: str) -> str:
    """Return a sentence of ours in which commands and names stand between backquotes, which stay."""
    parts = text.split("`")
    return "".join(command_shown(part) if place % 2 else _prose(part) for place, part in enumerate(parts))


def _prose(part: str) -> str:
    """Return a part of a sentence, with the blanks at its ends."""
    before, after = " " * part[:1].isspace(), " " * part[-1:].isspace()
    return f"{before}{shown(part, TEXT_LENGTH)}{after}" if part.strip() else before


def code_block(lines: Iterable[str]) -> Iterable[str]:
    """Yield lines of output as a block of code, which nothing in them can end."""
    shown_lines = [line.replace("`", chr(0x2019)) for line in lines]
    if shown_lines:
        yield from ("  ```", *(f"  {redacted(one_line(line))}" for line in shown_lines), "  ```")


def command_shown(text: str) -> str:
    """Return a command as code, so that it can be copied as it stands; nothing for none."""
    line = one_line(text).replace("`", chr(0x2019))
    return f"`{line}`" if line else ""
