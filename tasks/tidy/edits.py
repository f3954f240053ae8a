"""Applying ruff's fixes one by one, which ruff itself does only rule by rule."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence

from findings import Edit, Fix

BOM = codecs.BOM_UTF8.decode("utf-8")
LINE_END = re.compile(r"\r\n|\n|\r")


def apply(source: bytes, fixes: Iterable[Fix]) -> bytes:
    """`source` with as many of the fixes as do not overlap an earlier one.

    Args:
        source: A file in UTF-8, with or without a byte order mark.
        fixes: Fixes whose places are those of this very source.

    Raises:
        ValueError: it is not UTF-8, or a place lies outside of it.
    """
    text = source.decode("utf-8")
    mark = BOM if text.startswith(BOM) else ""
    text = text.removeprefix(BOM)
    starts = _line_starts(text)
    taken: list[tuple[int, int, str]] = []
    for fix in fixes:
        spans = [_span(edit, starts, len(text)) for edit in fix.edits]
        if not any(_overlap(span, other) for span in spans for other in taken):
            taken += spans
    for start, end, content in sorted(set(taken), reverse=True):
        text = text[:start] + content + text[end:]
    return (mark + text).encode("utf-8")


def _line_starts(text: str) -> list[int]:
    """The offset of each row, rows as ruff counts them: `splitlines` knows more ends of lines."""
    return [0, *(end.end() for end in LINE_END.finditer(text))]


def _span(edit: Edit, starts: Sequence[int], length: int) -> tuple[int, int, str]:
    start, end = (_offset(place, starts, length) for place in (edit.start, edit.end))
    if start > end:
        raise ValueError(f"an edit ends before it begins, in row {edit.start[0]}")
    return start, end, edit.content


def _offset(place: tuple[int, int], starts: Sequence[int], length: int) -> int:
    row, column = place
    offset = starts[min(row, len(starts)) - 1] + column - 1
    if row < 1 or column < 1 or row > len(starts) + 1 or offset > length:
        raise ValueError(f"an edit lies outside of the file: row {row}, column {column}")
    return offset


def _overlap(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    if one == other:
        # Two findings with one fix: `import os, sys`, both unused.
        return False
    return max(one[0], other[0]) < min(one[1], other[1]) or (one[0], one[1]) == (other[0], other[1])
