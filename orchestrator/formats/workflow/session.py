"""`session_current.json`: the notes of an agent on one task (WF, Completion Drive File Format)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from orchestrator.formats.text import FILE_BYTES
from orchestrator.formats.workflow.json_text import listed_by, overlaid, rewritten
from orchestrator.formats.workflow.nodes import Fields, read_json
from orchestrator.formats.workflow.note_ids import MOST_NOTES, ids_apart, with_ids
from orchestrator.model.errors import BadFile
from orchestrator.model.note_numbers import numbered_apart
from orchestrator.model.workflow import TASK_ID
from orchestrator.model.workflow_records import Note, NoteKind, NoteStatus, Resolver, Session

NAME: Final = "session_current.json"
_MISSING_IN_NOTE: Final = {
    "resolution": None,
    "resolved_by": None,
    "resolution_timestamp": None,
    "escalation_reason": None,
    "kind": None,
}


def read_session(data: bytes, name: str = NAME, limit: int = FILE_BYTES) -> Session:
    """Return an agent's session. Of two notes with one id the second gets an id of its own.

    Raises:
        BadFile: with every fault: no JSON, a field that is missing or of another type, a resolved note without
            resolution, resolver and time, an escalated one without a reason.

    """
    try:
        return read_json(data, name, _session, limit)
    except BadFile:
        apart = ids_apart(data, limit)
        if apart == data:
            raise
        return read_json(apart, name, _session, max(limit, len(apart)))


def render_session(session: Session, base: bytes = b"") -> bytes:
    """Return a session as a file; fields of `base` that we do not know stay."""
    return rewritten(session, ids_apart(base), read_session, partial(_document, session))


def render_kept(session: Session, there: bytes) -> bytes:
    """Return a session as the file in which it is written over what lies `there`.

    Notes that were added there and that the session does not have yet stay: nobody removes a note, so that they were
    written since the session was read, and are still to be taken. One whose id the session gave to another note
    meanwhile gets an id of its own.
    """
    try:
        found = read_session(there) if there else None
    except BadFile:
        found = None
    if found is not None and found.task_id == session.task_id:
        known = {note.id for note in session.notes}
        apart = numbered_apart(session.notes, found.notes)
        late = tuple(note for note in apart if note.id not in known)
        session = replace(session, notes=(*session.notes, *late))
        there = with_ids(ids_apart(there), [note.id for note in apart[: len(found.notes)]])
    return render_session(session, there)


def checked_task_id(found: Fields, key: str = "task_id") -> str:
    """Return a task id of the form `{slug}_{epoch}`."""
    text = found.text(key, blank=False)
    if text and not TASK_ID.fullmatch(text):
        found.fault(f"`{found.path(key)}` is {text[:80]!a}: write SLUG_EPOCH, such as user_table_1727539200")
    return text


def _session(found: Fields) -> Session:
    notes, first = list[Note](), set[str]()
    for each in found.objects("notes"):
        note = _note(each)
        if note.id and note.id in first:
            each.fault(
                f"`{each.path('note_id')}`: there is another note {note.id[:60]!a}: give this one the next number"
            )
        first.add(note.id)
        notes.append(note)
    if len(notes) > MOST_NOTES:
        found.fault(f"`notes` has {len(notes)} entries: {MOST_NOTES} at most")
    return Session(checked_task_id(found), found.integer("session_start"), tuple(notes))


def _note(found: Fields) -> Note:
    status = found.member("status", NoteStatus)
    resolved, escalated = status is NoteStatus.RESOLVED, status is NoteStatus.ESCALATED
    resolver = found.has("resolved_by") or resolved
    return Note(
        id=found.text("note_id", blank=False),
        timestamp=found.integer("timestamp"),
        description=found.text("description", blank=False),
        context=found.text("context"),
        status=status,
        resolution=found.text("resolution", None if resolved else "", blank=not resolved),
        resolved_by=found.member("resolved_by", Resolver) if resolver else None,
        resolution_timestamp=found.integer("resolution_timestamp")
        if resolved
        else found.optional_integer("resolution_timestamp"),
        escalation_reason=found.text("escalation_reason", None if escalated else "", blank=not escalated),
        kind=found.member("kind", NoteKind, NoteKind.NONE),
    )


def _document(session: Session, old: Mapping[str, Any]) -> dict[str, Any]:
    notes = [(note.id, partial(_note_values, note)) for note in session.notes]
    return overlaid(
        old,
        {
            "task_id": session.task_id,
            "session_start": session.session_start,
            "notes": listed_by(old.get("notes"), "note_id", notes),
        },
        {"notes": []},
    )


def _note_values(note: Note, old: object) -> dict[str, Any]:
    new = {
        "note_id": note.id,
        "timestamp": note.timestamp,
        "description": note.description,
        "context": note.context,
        "status": note.status.value,
        "resolution": note.resolution or None,
        "resolved_by": note.resolved_by.value if note.resolved_by else None,
        "resolution_timestamp": note.resolution_timestamp,
        "escalation_reason": note.escalation_reason or None,
        "kind": note.kind.value or None,
    }
    if not old and not note.kind:
        del new["kind"]  # WF has none: it is written only where it says something
    return overlaid(old, new, _MISSING_IN_NOTE)
