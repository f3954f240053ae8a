"""The items of a markdown list."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from orchestrator.formats.lines import Kind, Line

_BULLET: Final = re.compile(r"([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+(.*)|$)")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")


class Item(NamedTuple):
    """An item of a list: the text beside its bullet, and the lines that go on with it."""

    line: int
    text: str
    more: tuple[Line, ...]


def items(lines: Iterable[Line]) -> list[Item]:
    """Return the items of the lists in a section.

    An item goes on over lines that follow it at once or are indented deeper than it, nested items too. Code,
    comments and headings are passed over, and so is prose between lists.
    """
    found, base, gap = list[tuple[Line, list[Line]]](), 0, True
    for line in lines:
        if line.kind is not Kind.TEXT:
            continue
        bullet = _BULLET.match(line.text)
        indent = len(line.text[: len(line.text) - len(line.text.lstrip())].expandtabs(4))
        if not line.text.strip() or _HEADING.match(line.text):
            gap = True
        elif bullet and (not found or indent <= base + 1):
            found.append((line._replace(text=(bullet[2] or "").strip()), []))
            base, gap = indent, False
        elif found and (indent > base or not gap):
            found[-1][1].append(line)
            gap = False
        else:
            gap = True
    return [Item(line.number, line.text, tuple(more)) for line, more in found]


def bulleted(text: str) -> str | None:
    """Return the text beside the bullet of a line, or None if the line has no bullet."""
    found = _BULLET.match(text)
    return (found[2] or "").strip() if found else None
