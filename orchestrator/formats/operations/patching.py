"""Lays an edit over the text of a file: line ends and a missing last one stay as the file has them (F2)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from orchestrator.formats.operations.locate import CERTAIN, Place, locate
from orchestrator.model.errors import Refused
from orchestrator.model.file_operations import Hunk, Hunks


@dataclass(frozen=True, slots=True)
class Edited:
    """The new text of a file, how sure each place is (the least sure counts), and what was not as said."""

    text: str
    confidence: float = CERTAIN
    notes: tuple[str, ...] = ()


def edited(text: str, edit: Hunks) -> Edited:
    r"""Return the text of a file after an edit. All places are found in the text as it was before.

    Raises:
        Refused: a place is not found, or not found once, or two of them overlap, or a diff's places are not in its
            order, or it says of the last line's end what is not so.

    """
    ended = text.endswith("\n")
    pieces = text.split("\n")
    if ended or not text:
        pieces.pop()
    lines = [piece.removesuffix("\r") for piece in pieces]
    if any("\r" in line for line in lines) or (not ended and text.endswith("\r")):
        raise Refused("the file has line ends of old Macs: give its whole new text")
    marks = ["\r" * piece.endswith("\r") for piece in pieces]
    places = [_located(lines, hunk, nth, ended=ended) for nth, hunk in enumerate(edit.hunks, 1)]
    _refuse_overlaps(places, ordered=edit.ordered)
    made = list(pieces)
    for place in sorted(places, key=lambda each: each.start, reverse=True):
        mark = next(iter(marks[place.start : place.end] or marks[-1:]), "")
        kept = _unchanged_ends(lines, place)
        middle = [line + mark for line in place.new[kept[0] : len(place.new) - kept[1]]]
        made[place.start + kept[0] : place.end - kept[1]] = middle
    return Edited(
        _joined(made, ended=_ends(edit.hunks, places, len(lines), ended=ended)),
        min(place.confidence for place in places),
        tuple(place.how for place in places if place.how),
    )


def _located(lines: list[str], hunk: Hunk, nth: int, *, ended: bool) -> Place:
    try:
        place = locate(lines, hunk)
    except Refused as error:
        raise Refused(f"change {nth}: {error}") from None
    if hunk.old_open and (ended or place.end != len(lines)):
        raise Refused(f"change {nth}: the file's last line does end with a line break there")
    if hunk.new_open and place.end != len(lines):
        raise Refused(f"change {nth}: only a file's last line can be without a line break")
    return place


def _refuse_overlaps(places: list[Place], *, ordered: bool) -> None:
    for one, other in pairwise(places if ordered else sorted(places, key=lambda each: each.start)):
        if other.start < one.end:
            raise Refused(
                f"two changes, at line {one.start + 1} and line {other.start + 1}, overlap or stand in the wrong order"
            )


def _unchanged_ends(lines: list[str], place: Place) -> tuple[int, int]:
    """Return how many lines at both ends stay as they are: their own line ends stay too."""
    old, new = lines[place.start : place.end], place.new
    most = min(len(old), len(new))
    before = next((nth for nth in range(most) if old[nth] != new[nth]), most)
    most -= before
    after = next((nth for nth in range(most) if old[-1 - nth] != new[-1 - nth]), most)
    return before, after


def _ends(hunks: tuple[Hunk, ...], places: list[Place], count: int, *, ended: bool) -> bool:
    """Return whether the new text ends with a line break: as the edit of its end says, or as before."""
    for hunk, place in zip(hunks, places, strict=True):
        if place.end == count:
            if hunk.new_open is not None:
                return not hunk.new_open
            if not count:
                return True
    return ended


def _joined(pieces: list[str], *, ended: bool) -> str:
    if not pieces:
        return ""
    whole = "\n".join(pieces)
    return whole + "\n" if ended else whole.removesuffix("\r")
