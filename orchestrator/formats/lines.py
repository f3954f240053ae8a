"""The lines of a markdown file: which of them are text, code or comments.

Code is what stands in a fence, a comment one that begins its line. Every function is linear in the length of
its text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from itertools import accumulate
from typing import Final, NamedTuple

FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
COMMENT: Final = re.compile(r" {0,3}<!--")


class Kind(Enum):
    """What a line is."""

    TEXT = auto()
    FENCE = auto()  # the line that opens or closes a block of code
    CODE = auto()
    COMMENT = auto()


class Line(NamedTuple):
    """One line of a file; the first has the number 1."""

    number: int
    text: str
    kind: Kind = Kind.TEXT


def scan(texts: Sequence[str], *, to_end: bool = True) -> list[Line]:
    """Return the lines with what each of them is.

    Args:
        texts: The lines, without their ends.
        to_end: Whether a fence that is never closed makes code of all that follows, or is text.

    """
    return list(_scan(texts, to_end=to_end))


def unclosed(lines: Sequence[Line]) -> int:
    """Return the number of the line that opens a block of code which is never closed, or 0."""
    opened = 0
    for line in lines:
        if line.kind is Kind.FENCE:
            opened = 0 if opened else line.number
    return opened


def without_comments(text: str) -> str:
    """Return a text without its closed HTML comments."""
    kept, start = list[str](), 0
    while (opened := text.find("<!--", start)) >= 0 and (closed := text.find("-->", opened + 4)) >= 0:
        kept.append(text[start:opened])
        start = closed + 3
    return "".join((*kept, text[start:]))


def trimmed(texts: Sequence[str]) -> str:
    """Return lines as one text, without the blank ones before and after it."""
    start, end = 0, len(texts)
    while start < end and not texts[start].strip():
        start += 1
    while start < end and not texts[end - 1].strip():
        end -= 1
    return "\n".join(texts[start:end])


class _Closers:
    """Where blocks of code of one sign can be closed, to be asked: is there one after this line, as long?"""

    def __init__(self, texts: Sequence[str], sign: str) -> None:
        ends = [
            (number, len(found[1]))
            for number, text in enumerate(texts)
            if sign * 3 in text
            and (found := FENCE.match(text))
            and found[1][0] == sign
            and not found[2].strip()
        ]
        self._lines = [number for number, _ in ends]
        self._longest = list(accumulate((length for _, length in reversed(ends)), max))[::-1]

    def after(self, number: int, length: int) -> bool:
        place = bisect_right(self._lines, number)
        return place < len(self._lines) and self._longest[place] >= length


def _scan(texts: Sequence[str], *, to_end: bool) -> Iterator[Line]:
    """Tell the lines apart; a block of code never closed is code `to_end`, or no code at all."""
    closers = {sign: _Closers(texts, sign) for sign in "`~"}
    last_comment_end = max((number for number, text in enumerate(texts) if "-->" in text), default=-1)
    fence, comment = "", False
    for number, text in enumerate(texts):
        kind = Kind.TEXT
        if comment:
            kind, comment = Kind.COMMENT, "-->" not in text
        elif fence:
            kind = Kind.FENCE if _closes(text, fence) else Kind.CODE
            fence = "" if kind is Kind.FENCE else fence
        elif (opener := _opened(text)) and (to_end or closers[opener[0]].after(number, len(opener))):
            kind, fence = Kind.FENCE, opener
        elif COMMENT.match(text):
            rest = text[text.index("<!--") + 4 :]
            if "-->" not in rest:
                comment = number < last_comment_end
                kind = Kind.COMMENT if comment else Kind.TEXT
            elif not rest[rest.index("-->") + 3 :].strip():
                kind = Kind.COMMENT
        yield Line(number + 1, text, kind)


def _opened(text: str) -> str:
    found = FENCE.match(text)
    return found[1] if found and not (found[1][0] == "`" and "`" in found[2]) else ""


def _closes(text: str, fence: str) -> bool:
    found = FENCE.match(text)
    return bool(found and found[1].startswith(fence) and not found[2].strip())
