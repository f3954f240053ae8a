"""Who may change what in the notes of an agent's session (contract, Writers).

The author is the session's own agent, somebody unknown, or the daemon; a verifier writes only its own session.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from orchestrator.model.note_numbers import numbered_apart
from orchestrator.model.workflow_records import Note, NoteKind, NoteStatus, Resolver, Session, Writer

if TYPE_CHECKING:
    from collections.abc import Iterator


class Forbidden(StrEnum):
    """Why a change of notes is refused."""

    REMOVED = "removed"  # nobody removes a note
    RESOLVED_CHANGED = "resolved_changed"  # a resolved note is history
    NOT_OWN = "not_own"  # only the session's own agent may do this
    NEEDS_OTHERS = "needs_others"  # its author may not resolve a note that has a kind or was escalated
    FOREIGN_RESOLVER = "foreign_resolver"  # only the daemon writes that others resolved it
    SESSION_CHANGED = "session_changed"  # the task and its beginning stay


@dataclass(frozen=True, slots=True)
class NoteRefusal:
    """One change that is not accepted; `note` is empty where the session itself was changed."""

    note: str
    reason: Forbidden


def accepted_notes(
    base: Session, written: Session, writer: Writer
) -> tuple[Session, tuple[NoteRefusal, ...]]:
    """Return a session with the changes that its writer may make, and the changes that are refused.

    A refused change is put back: the note stands as in `base`. Notes keep their order; what was removed comes back. A
    second note of one id gets an id of its own.
    """
    if writer is Writer.DAEMON:
        return written, ()
    refusals = list[NoteRefusal]()
    if (base.task_id, base.session_start) != (written.task_id, written.session_start):
        refusals.append(NoteRefusal("", Forbidden.SESSION_CHANGED))
    apart = numbered_apart(base.notes, written.notes)
    was = {note.id: note for note in base.notes}
    now = {note.id: note for note in apart}
    kept = list[Note]()
    for note in base.notes:
        after = now.get(note.id)
        reason = Forbidden.REMOVED if after is None else _forbidden(note, after, writer)
        if reason is not None:
            refusals.append(NoteRefusal(note.id, reason))
        kept.append(note if reason is not None or after is None else after)
    for note in apart:
        if note.id not in was:
            made, reason = _new(note, writer)
            refusals += [NoteRefusal(note.id, reason)] if reason else []
            kept.append(made)
    return replace(base, notes=tuple(kept)), tuple(refusals)


def unresolved(session: Session) -> Iterator[Note]:
    """Yield the notes that keep an agent from being done."""
    return (note for note in session.notes if note.status is not NoteStatus.RESOLVED)


def _forbidden(before: Note, after: Note, writer: Writer) -> Forbidden | None:
    if before == after:
        return None
    if before.status is NoteStatus.RESOLVED:
        return Forbidden.RESOLVED_CHANGED
    if after.status is NoteStatus.RESOLVED:
        return _resolving(before, after, writer)
    if before.status is NoteStatus.ESCALATED:
        return Forbidden.NEEDS_OTHERS
    if before.kind is not NoteKind.NONE and after.kind is NoteKind.NONE:
        return Forbidden.NEEDS_OTHERS  # the next write could resolve it
    escalates = after.status is NoteStatus.ESCALATED
    own_text = replace(after, status=before.status, escalation_reason=before.escalation_reason) == before
    if writer is Writer.OWN_RUN or (escalates and own_text):
        return None
    return Forbidden.NOT_OWN


def _resolving(before: Note, after: Note, writer: Writer) -> Forbidden | None:
    if writer is not Writer.OWN_RUN:
        return Forbidden.NOT_OWN
    if after.resolved_by is not Resolver.SELF:
        return Forbidden.FOREIGN_RESOLVER
    if (
        before.status is NoteStatus.ESCALATED
        or before.kind is not NoteKind.NONE
        or after.kind is not NoteKind.NONE
    ):
        return Forbidden.NEEDS_OTHERS
    return None


def _new(note: Note, writer: Writer) -> tuple[Note, Forbidden | None]:
    """Return a new note as it is accepted: open, where its author may not have resolved it."""
    if note.status is not NoteStatus.RESOLVED:
        return note, None
    reason = _resolving(replace(note, status=NoteStatus.OPEN), note, writer)
    if reason is None:
        return note, None
    opened = replace(note, status=NoteStatus.OPEN, resolution="", resolved_by=None, resolution_timestamp=None)
    return opened, reason
