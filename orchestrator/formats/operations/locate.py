"""Finds where a hunk belongs in a file whose lines may have moved, and says how sure that is (F2).

Ways to match, from sure to less sure; the first one that fits decides, and a second place that fits as well is an error
that names both. `patch` takes the nearest of several places; this does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.model.errors import Refused
from orchestrator.model.file_operations import Hunk

CERTAIN: Final = 1.0
ELSEWHERE: Final = 0.95
TRAILING: Final = 0.9
INDENTED: Final = 0.85
FUZZ: Final = (0.8, 0.75)
"""How sure a match is that leaves out one or two lines of context at the ends, as `patch` does by default."""

FUZZY_LINES: Final = 2
"""How many lines that are not blank must still be compared when context is left out."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a hunk belongs: the lines `start` to `end` (0 is the first, `end` excluded) become `new`.

    `confidence` is from 0 to 1; `how` says in words what was not as the hunk says, empty if nothing.
    """

    start: int
    end: int
    new: tuple[str, ...]
    confidence: float
    how: str = ""


def locate(lines: Sequence[str], hunk: Hunk) -> Place:
    """Return where a hunk belongs in the lines of a file.

    Raises:
        Refused: nowhere, or at several places alike; the message names two of them.

    """
    if not hunk.old:
        if not lines:
            return Place(0, 0, hunk.new, CERTAIN)
        raise Refused("shows no line of the file around what it adds: give at least one")
    if places := _matches(lines, hunk.old, _same):
        stated = hunk.line - 1
        if stated in places:
            return Place(stated, stated + len(hunk.old), hunk.new, CERTAIN)
        at = _only(places, hunk)
        return Place(
            at,
            at + len(hunk.old),
            hunk.new,
            ELSEWHERE if hunk.line else CERTAIN,
            f"found at line {at + 1}, not {hunk.line}" if hunk.line else "",
        )
    for attempt in (_trailing, _indented):
        if place := attempt(lines, hunk):
            return place
    return _fuzzy(lines, hunk)


def _trailing(lines: Sequence[str], hunk: Hunk) -> Place | None:
    """Match but for white space at the ends of lines. Lines that stay are left as the file has them."""
    places = _matches(lines, hunk.old, lambda one, other: one.rstrip() == other.rstrip())
    if not places:
        return None
    at = _only(places, hunk)
    return Place(
        at,
        at + len(hunk.old),
        _kept(lines, at, hunk),
        TRAILING,
        f"found at line {at + 1} but for white space at the ends of lines",
    )


def _indented(lines: Sequence[str], hunk: Hunk) -> Place | None:
    """Match lines that are all indented by the same white space more, or less, than the hunk's."""
    found = [
        (at, more, less)
        for at in range(len(lines) - len(hunk.old) + 1)
        for more, less in [_shift(lines[at : at + len(hunk.old)], hunk.old)]
        if more or less
    ]
    if not found:
        return None
    at = _only([each[0] for each in found], hunk)
    more, less = found[0][1:]
    new = []
    for line in hunk.new:
        if line.strip() and not line.startswith(less):
            return None
        new.append(more + line.removeprefix(less) if line.strip() else line)
    return Place(
        at,
        at + len(hunk.old),
        tuple(new),
        INDENTED,
        f"found at line {at + 1} with another indentation",
    )


def _shift(lines: Sequence[str], old: Sequence[str]) -> tuple[str, str]:
    """Return the white space that is more, or less, before each line than before the old ones; two empties if none."""
    shifts = {
        _difference(line, text) for line, text in zip(lines, old, strict=True) if line.strip() or text.strip()
    }
    more, less = shifts.pop() if len(shifts) == 1 else ("", "")
    if more.strip() or less.strip():
        return "", ""
    return more, less


def _difference(line: str, text: str) -> tuple[str, str]:
    """Return what stands before one of two lines more than before the other; no white space if they differ besides."""
    if line.endswith(text):
        return line.removesuffix(text), ""
    return ("", text.removesuffix(line)) if text.endswith(line) else ("?", "?")


def _fuzzy(lines: Sequence[str], hunk: Hunk) -> Place:
    """Match with one or two lines of context at the ends left out."""
    for fuzz, confidence in enumerate(FUZZ, 1):
        before, after = min(fuzz, hunk.before), min(fuzz, hunk.after)
        inner = hunk.old[before : len(hunk.old) - after]
        if sum(bool(line.strip()) for line in inner) < FUZZY_LINES:
            break
        if places := _matches(lines, inner, _same):
            at = _only(places, hunk)
            return Place(
                at,
                at + len(inner),
                hunk.new[before : len(hunk.new) - after],
                confidence,
                f"found at line {at + 1} with {fuzz} of the lines around it changed",
            )
    shown = next(line for line in hunk.old if line.strip() or line is hunk.old[-1])
    raise Refused(f"the lines to change are not in the file, beginning with {shown[:60]!a}")


def _matches(lines: Sequence[str], old: Sequence[str], same: Callable[[str, str], bool]) -> list[int]:
    return list(_places(lines, old, same))


def _places(lines: Sequence[str], old: Sequence[str], same: Callable[[str, str], bool]) -> Iterator[int]:
    for at in range(len(lines) - len(old) + 1):
        if all(same(lines[at + nth], text) for nth, text in enumerate(old)):
            yield at


def _same(one: str, other: str) -> bool:
    return one == other


def _only(places: Sequence[int], hunk: Hunk) -> int:
    if len(places) > 1:
        raise Refused(
            f"the lines to change stand at line {places[0] + 1} and at line {places[1] + 1}"
            + (f", and not at line {hunk.line}" if hunk.line else "")
            + ": give more lines around them"
        )
    return places[0]


def _kept(lines: Sequence[str], at: int, hunk: Hunk) -> tuple[str, ...]:
    """Return the new lines of a hunk with the lines of context at its ends as the file has them."""
    end = at + len(hunk.old)
    middle = hunk.new[hunk.before : len(hunk.new) - hunk.after]
    return (*lines[at : at + hunk.before], *middle, *lines[end - hunk.after : end])
