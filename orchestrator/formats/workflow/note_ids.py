"""The ids of notes in the text of a session: each is given once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import FILE_BYTES
from orchestrator.formats.workflow.json_text import json_text
from orchestrator.model.errors import BadFile
from orchestrator.model.note_numbers import free_id, same_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_NOTES: Final = 1000
"""How many notes a session may have."""


def ids_apart(data: bytes, limit: int = FILE_BYTES) -> bytes:
    """Return a session's file in which a second note of one id has a free one; a later version of a note stands alone.

    A file without such notes, one that is no session, and one with too many notes are returned as they are.
    """
    notes = _raw_notes(data, limit)
    ids = {each["note_id"] for each in notes}
    if len(ids) == len(notes) or len(notes) > MOST_NOTES:
        return data
    kept = dict[str, dict[str, Any]]()
    for note in notes:
        known = kept.get(note["note_id"])
        if known is None or same_text(_raw_text(known), _raw_text(note)):
            kept[note["note_id"]] = note
        else:
            new = free_id(ids)
            ids.add(new)
            kept[new] = {**note, "note_id": new}
    return json_text({**load_json(data, "", limit), "notes": list(kept.values())})


def with_ids(data: bytes, ids: Sequence[str]) -> bytes:
    """Return a session's file with other ids of its notes, in their order."""
    notes = _raw_notes(data)
    if [note["note_id"] for note in notes] == list(ids):
        return data
    renamed = [{**note, "note_id": new} for note, new in zip(notes, ids, strict=True)]
    return json_text({**load_json(data, "", FILE_BYTES), "notes": renamed})


def _raw_notes(data: bytes, limit: int = FILE_BYTES) -> list[dict[str, Any]]:
    """Return the notes in a file as they stand there; none if it is no session."""
    try:
        document = load_json(data, "", limit)
    except BadFile:
        return []
    notes = document.get("notes") if isinstance(document, dict) else None
    if not isinstance(notes, list):
        return []
    named = [each for each in notes if isinstance(each, dict) and isinstance(each.get("note_id"), str)]
    return named if len(named) == len(notes) else []


def _raw_text(note: Mapping[str, Any]) -> tuple[object, ...]:
    return note.get("description"), note.get("context"), note.get("timestamp")
