"""Finds the lines of the keys in a TOML text: `tomllib` does not return them, and error messages need them."""

from __future__ import annotations

import re
from typing import Final

_TABLE: Final = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?")
_KEY: Final = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")

_PART: Final = re.compile(r""""[^"]*"|'[^']*'|[^.\s"']+""")


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Return the line (1 is the first) of each table and key of a text that `tomllib` has parsed.

    A line within a multi-line text may be mistaken for a key; only the line numbers in messages depend on it.
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
