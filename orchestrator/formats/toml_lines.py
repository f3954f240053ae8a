"""Where the keys of a TOML text stand: `tomllib` does not tell, and an error without its line is a riddle."""

from __future__ import annotations

import re
from typing import Final

_TABLE: Final = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?")
_KEY: Final = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")

_PART: Final = re.compile(r""""[^"]*"|'[^']*'|[^.\s"']+""")


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Return the line (1 is the first) of each table and key of a text that `tomllib` has read.

    A line inside a text of several lines that looks like a key is taken for one; nothing but a message's
    line number depends on it.
    """
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.fullmatch(line):
            table = _parts(header[1])
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            path = (*table, *_parts(key[1]))
            for depth in range(len(table) + 1, len(path) + 1):
                lines.setdefault(path[:depth], number)
    return lines


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))
