"""Which notes with one id are one note, and what becomes of two that are not: neither is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.model.workflow_records import Note

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def same_text(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Return whether two notes are versions of one; each is given as its description, context and timestamp.

    Whoever edits a note leaves its description, or its context and time, as they were. In doubt they are two: a note
    too many is resolved, one too few is never seen.
    """
    return one[0] == other[0] or (one[1:] == other[1:] and bool(one[1]))


def free_id(taken: Collection[str]) -> str:
    """Return the first id of the document's form that no note has."""
    return next(name for number in range(1, len(taken) + 2) if (name := f"note_{number:03}") not in taken)


def numbered_apart(known: Sequence[Note], written: Sequence[Note]) -> tuple[Note, ...]:
    """Return written notes, and behind them those of which another one took the id.

    A note whose id another, `known` note has got, is given the id that it was known by, or else the next free one. The
    note that says the same goes before one of the same context and time.
    Both sequences have each id once.
    """
    by_id = {note.id: note for note in known}
    taken = set(by_id) | {note.id for note in written}
    said = {note.description for note in known}
    own = {
        note.id
        for note in written
        if note.id not in by_id
        or by_id[note.id].description == note.description
        or (_same(by_id[note.id], note) and note.description not in said)
    }
    there, found, displaced = set(own), list[Note](), list[Note]()
    for note in written:
        if note.id in own:
            found.append(note)
            continue
        others = [other for other in known if other.id not in there and _same(other, note)]
        renumbered = [
            other.id for other in sorted(others, key=lambda other: other.description != note.description)
        ]
        new = renumbered[0] if renumbered else free_id(taken)
        taken.add(new)
        there.add(new)
        found.append(replace(note, id=new))
        displaced.append(by_id[note.id])
    return (*found, *(note for note in displaced if note.id not in there))


def _same(one: Note, other: Note) -> bool:
    return same_text(_text(one), _text(other))


def _text(note: Note) -> tuple[object, ...]:
    return note.description, note.context, note.timestamp
