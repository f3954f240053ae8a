"""The sections of a markdown file, told apart by their headings, and how to put text of others into one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from orchestrator.formats.lines import COMMENT, FENCE, Kind, Line, scan

TITLE_LENGTH: Final = 200

_ATX: Final = re.compile(r" {0,3}(#{1,6})(?!#)([ \t]*)(.*)")
_REMARK: Final = re.compile(r" \([^()]*\):?$")
_NUMBERING: Final = re.compile(r"[0-9]{1,3}[.)] ")


class Heading(NamedTuple):
    """A heading: `key` is what its title means to the reader of this format, empty for any other."""

    level: int
    title: str
    key: str


class Section(NamedTuple):
    """A heading and what stands under it. The lines before the first heading have level and line 0."""

    heading: Heading
    line: int
    lines: tuple[Line, ...]


class Shape(NamedTuple):
    """Which headings part a format's sections.

    `titles` maps plain titles to keys; they count down to level `deepest`. Under a section of a key in
    `commented`, a `# …` line is a comment.
    """

    titles: Mapping[str, str]
    deepest: int = 6
    commented: frozenset[str] = frozenset()

    def heading(self, text: str) -> Heading | None:
        """Return the heading that a line is, or None. `##Goal` is one only if its title has a key."""
        found = _ATX.match(text)
        if not found:
            return None
        level, title = len(found[1]), _closed(found[3])
        key = self.titles.get(plain(title), "") if level <= self.deepest else ""
        return Heading(level, title, key) if key or found[2] or not title else None

    def parts(self, heading: Heading, current: Heading) -> bool:
        """Return whether a heading ends the section that it is met in."""
        if current.key in self.commented and heading.level == 1:
            return current.level == 1 and bool(heading.key)
        return bool(heading.key) or not current.key or heading.level <= current.level


NO_HEADING: Final = Heading(0, "", "")


def sections(lines: Sequence[Line], shape: Shape) -> list[Section]:
    """Return a file's sections in order; the first holds what stands before any heading."""
    heading, begun, body, found = NO_HEADING, 0, list[Line](), list[Section]()
    for line in lines:
        next_one = shape.heading(line.text) if line.kind is Kind.TEXT else None
        if next_one and shape.parts(next_one, heading):
            found.append(Section(heading, begun, tuple(body)))
            heading, begun, body = next_one, line.number, []
        else:
            body.append(line)
    return [*found, Section(heading, begun, tuple(body))]


def plain(title: str) -> str:
    """Return a title as it is compared: without case, emphasis, emoji, numbering or a last remark."""
    if len(title) > TITLE_LENGTH:
        return title
    words = _REMARK.sub("", " ".join(title.casefold().split()))
    words = _NUMBERING.sub("", words.strip("*_`# "), count=1)
    start, end = 0, len(words)
    while start < end and not words[start].isalnum():
        start += 1
    while start < end and not words[end - 1].isalnum():
        end -= 1
    return words[start:end]


class Guard:
    r"""Puts text of others into a section of ours and takes it out again, unchanged.

    A line that would end the section, be read as a header line (`marks`), or open code or a comment that the
    text itself does not close, gets a backslash before it; so does one that begins with backslashes and such
    a thing already.
    """

    def __init__(self, shape: Shape, level: int, marks: str) -> None:
        self._shape = shape
        self._within = Heading(level, "", "text")
        self._mark = re.compile(rf" {{0,3}}(?:{marks})", re.IGNORECASE)
        self._sign = re.compile(rf"( {{0,3}})(\\*)(?=#|```|~~~|<!--|{marks})", re.IGNORECASE)

    def put(self, text: str) -> str:
        """Return `text` with what would act made harmless."""
        return "\n".join(
            self._slashed(line.text) if line.kind is Kind.TEXT else line.text
            for line in scan(text.split("\n"), to_end=False)
        )

    def take(self, lines: Iterable[Line]) -> list[str]:
        """Return lines, read from a section, as they were before `put`."""
        return [self._bare(line.text) if line.kind is Kind.TEXT else line.text for line in lines]

    def _slashed(self, text: str) -> str:
        sign = self._sign.match(text)
        return f"{sign[1]}\\{text[sign.end(1) :]}" if sign and (sign[2] or self._acts(text)) else text

    def _bare(self, text: str) -> str:
        sign = self._sign.match(text)
        return f"{sign[1]}{text[sign.end(1) + 1 :]}" if sign and sign[2] else text

    def _acts(self, text: str) -> bool:
        heading = self._shape.heading(text)
        if heading and self._shape.parts(heading, self._within):
            return True
        return bool(FENCE.match(text) or COMMENT.match(text) or self._mark.match(text))


def _closed(title: str) -> str:
    """Return a heading's title without the `#` that may close it."""
    title = title.rstrip()
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else title
