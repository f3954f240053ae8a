"""What orders and reports have in common: header lines, section titles, and prose that cannot act."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from orchestrator.formats.lines import Kind, Line, scan, trimmed, unclosed, without_comments
from orchestrator.formats.sections import Guard, Section, Shape, plain, sections
from orchestrator.formats.text import PROSE_LENGTH, cut, decoded, neutral
from orchestrator.model.errors import Fault

SHAPE: Final = Shape(
    {
        "artifacts": "artifacts",
        "artifacts generated": "artifacts",
        "blockers": "blockers",
        "completed work": "completed",
        "context": "context",
        "instructions": "instructions",
        "no change": "unchanged",
        "no changes": "unchanged",
        "no changes needed": "unchanged",
        "skill gaps": "skill_gaps",
        "skills to load": "skills",
        "sub-tasks": "subtasks",
        "subtasks": "subtasks",
        "success criteria": "criteria",
        "work completed": "completed",
    },
    deepest=3,
)
"""Agents write headings a level deeper than asked, too; deeper ones are part of the prose."""

_KEYS: Final = "status|verdict|run|in reply to|timestamp|target|action"
_HEADER: Final = re.compile(
    rf" {{0,3}}(?:[-*+] {{1,3}})?"
    rf"(?:\*\*(?P<inside>{_KEYS}) ?: ?\*\*|\*\*(?P<outside>{_KEYS})\*\* ?:|(?P<bare>{_KEYS}) ?:)"
    r"(?P<value>.*)",
    re.IGNORECASE,
)
_GUARD: Final = Guard(SHAPE, 2, rf"(?:[-*+] {{1,3}})?\*\*(?:{_KEYS})\b")
_NOTHING: Final = frozenset({"", "n/a", "nil", "no", "none", "nothing", "no blockers", "none so far"})


class HeaderLine(NamedTuple):
    """One `**Key:** value`; `leading` if it stands above the first section, `bold` if the key is."""

    line: int
    key: str
    value: str
    leading: bool
    bold: bool


class Handoff(NamedTuple):
    """A handoff taken apart: its header lines, its sections, and what of it code without an end hides."""

    headers: tuple[HeaderLine, ...]
    sections: tuple[Section, ...]
    faults: tuple[Fault, ...]
    in_code: dict[str, int]
    """The first line of each header key that stands in a block of code, where it does not count."""

    def under(self, key: str) -> list[Section]:
        """Return the sections of a key, in order."""
        return [section for section in self.sections if section.heading.key == key]

    def prose(self, key: str) -> str:
        """Return what stands under a key, as it was written; at most 64 KB of it."""
        parts = [trimmed(_GUARD.take(section.lines)) for section in self.under(key)]
        return cut("\n\n".join(part for part in parts if part), PROSE_LENGTH)


def take_apart(data: bytes, name: str, limit: int, titles: Collection[str] = ()) -> Handoff:
    """Return the parts of a handoff's bytes. Raises BadFile, as `text.decoded` does.

    `titles` are those of further sections, which are found under `other_key` of their title.
    """
    lines = scan(decoded(data, name, limit).split("\n"))
    shape = SHAPE._replace(titles={**{plain(each): other_key(each) for each in titles}, **SHAPE.titles})
    found = sections(lines, shape)
    headers, leading = list[HeaderLine](), True
    for place, section in enumerate(found):
        title = section.heading.title.casefold()
        leading = leading and not section.heading.key and (place <= 1 or title.startswith("handoff"))
        headers += _headers(section.lines, Kind.TEXT, leading=leading)
    in_code = {header.key: header.line for header in _headers(reversed(lines), Kind.CODE, leading=False)}
    return Handoff(tuple(headers), tuple(found), tuple(_hidden(lines)), in_code)


def other_key(title: str) -> str:
    """Return the key of a section that not every report has."""
    return f"other {plain(title)}"


def says_nothing(text: str) -> bool:
    """Return whether a text is a way of writing `None`."""
    return len(text) < 80 and text.strip("-*_.()` \t\n").casefold() in _NOTHING  # noqa: PLR2004 - no prose


def written(text: str) -> str:
    """Return text as it may stand in a section: it cannot end it, nor be read as a header line."""
    return trimmed(_GUARD.put(trimmed(neutral(text).split("\n"))).split("\n"))


def rendered(title: str, headers: Iterable[tuple[str, str]], bodies: Sequence[tuple[str, str]]) -> str:
    """Return a handoff (H6), from its header lines and its sections' titles and bodies."""
    top = "".join(f"**{key}:** {value}\n" for key, value in headers)
    return f"# Handoff: {title}\n{top}" + "".join(
        f"\n## {heading}\n{body}\n" if body else f"\n## {heading}\n" for heading, body in bodies
    )


def _headers(lines: Iterable[Line], kind: Kind, *, leading: bool) -> Iterable[HeaderLine]:
    for line in lines:
        found = _HEADER.fullmatch(line.text) if line.kind is kind else None
        if found:
            key = found["inside"] or found["outside"] or found["bare"]
            bold = not found["bare"]
            yield HeaderLine(line.number, key.casefold(), _value(found["value"]), leading, bold)


def _value(text: str) -> str:
    value = without_comments(text).strip().removesuffix("\\").rstrip()
    return value[1:-1].strip() if len(value) > 1 and value[0] == value[-1] == "`" else value


def _hidden(lines: Sequence[Line]) -> Iterable[Fault]:
    """Say where code begins that never ends, if something that steers follows it."""
    opened = unclosed(lines)
    if opened and any(
        _HEADER.fullmatch(line.text) or ((heading := SHAPE.heading(line.text)) and heading.key)
        for line in lines[opened:]
    ):
        yield Fault(opened, "this block of code is never closed, so nothing after it counts: close it")
