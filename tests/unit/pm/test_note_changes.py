from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.model.workflow_records import Note, NoteKind, NoteStatus, Resolver, Session, Writer
from orchestrator.pm.state.note_changes import Forbidden, accepted_notes, unresolved

OPEN = Note("note_001", 10, "Assuming UTC", "Writing the parser", NoteStatus.OPEN)
ESCALATED = replace(OPEN, status=NoteStatus.ESCALATED, escalation_reason="It is a requirement")
RESOLVED = replace(
    OPEN, status=NoteStatus.RESOLVED, resolution="Found", resolved_by=Resolver.SELF, resolution_timestamp=20
)
BY_USER = replace(RESOLVED, resolved_by=Resolver.USER)
OWN, UNKNOWN, DAEMON = Writer.OWN_RUN, Writer.UNKNOWN, Writer.DAEMON


def _session(*notes: Note) -> Session:
    return Session("parse_1727539200", 5, notes)


@pytest.mark.parametrize(
    ("before", "after", "writer"),
    [
        (OPEN, RESOLVED, OWN),
        (OPEN, ESCALATED, OWN),
        (OPEN, ESCALATED, UNKNOWN),
        (OPEN, replace(OPEN, description="Assuming local time"), OWN),
        (OPEN, replace(OPEN, kind=NoteKind.SECURITY), OWN),
        (ESCALATED, BY_USER, DAEMON),
        (OPEN, ESCALATED, DAEMON),
    ],
)
def test_change_of_a_note_that_is_accepted(before, after, writer):
    assert accepted_notes(_session(before), _session(after), writer) == (_session(after), ())


@pytest.mark.parametrize(
    ("before", "after", "writer", "reason"),
    [
        (OPEN, RESOLVED, UNKNOWN, Forbidden.NOT_OWN),
        (OPEN, replace(OPEN, context="Other"), UNKNOWN, Forbidden.NOT_OWN),
        (OPEN, replace(ESCALATED, context="Other"), UNKNOWN, Forbidden.NOT_OWN),
        (OPEN, BY_USER, OWN, Forbidden.FOREIGN_RESOLVER),
        (ESCALATED, RESOLVED, OWN, Forbidden.NEEDS_OTHERS),
        (ESCALATED, OPEN, OWN, Forbidden.NEEDS_OTHERS),
        (ESCALATED, BY_USER, OWN, Forbidden.FOREIGN_RESOLVER),
        (replace(OPEN, kind=NoteKind.SECURITY), RESOLVED, OWN, Forbidden.NEEDS_OTHERS),
        (replace(OPEN, kind=NoteKind.SECURITY), OPEN, OWN, Forbidden.NEEDS_OTHERS),
        (replace(OPEN, kind=NoteKind.SECURITY), ESCALATED, OWN, Forbidden.NEEDS_OTHERS),
        (RESOLVED, OPEN, OWN, Forbidden.RESOLVED_CHANGED),
        (RESOLVED, replace(RESOLVED, resolution="Other"), OWN, Forbidden.RESOLVED_CHANGED),
    ],
)
def test_change_of_a_note_that_is_put_back(before, after, writer, reason):
    kept, refusals = accepted_notes(_session(before), _session(after), writer)
    assert kept == _session(before)
    assert [(each.note, each.reason) for each in refusals] == [("note_001", reason)]


def test_removed_note_comes_back():
    kept, refusals = accepted_notes(_session(OPEN), _session(), OWN)
    assert kept == _session(OPEN)
    assert [each.reason for each in refusals] == [Forbidden.REMOVED]


@pytest.mark.parametrize("writer", [OWN, UNKNOWN])
def test_new_note_is_accepted_from_anybody(writer):
    assert accepted_notes(_session(), _session(OPEN), writer) == (_session(OPEN), ())


def test_new_note_that_its_author_may_not_resolve_is_opened():
    kept, refusals = accepted_notes(_session(), _session(BY_USER), OWN)
    assert kept == _session(OPEN)
    assert [each.reason for each in refusals] == [Forbidden.FOREIGN_RESOLVER]


@pytest.mark.parametrize("first", [OPEN, ESCALATED, RESOLVED], ids=lambda note: note.status)
@pytest.mark.parametrize("writer", [OWN, UNKNOWN])
def test_second_note_of_one_id_is_taken_beside_the_first(first, writer):
    """Two wrote their first note at the same time. Nothing is put back; the next look comes to the same."""
    second = replace(OPEN, timestamp=11, description="Names are unique", context="Making the table")
    for _ in range(2):
        kept, refusals = accepted_notes(_session(first), _session(second), writer)
        assert (kept, refusals) == (_session(first, replace(second, id="note_002")), ())
        kept, refusals = accepted_notes(kept, _session(second), writer)
        assert (kept, refusals) == (_session(first, replace(second, id="note_002")), ())


def test_task_of_a_session_stays():
    written = replace(_session(OPEN), task_id="other_1727539200")
    kept, refusals = accepted_notes(_session(), written, OWN)
    assert kept == _session(OPEN)
    assert [each.reason for each in refusals] == [Forbidden.SESSION_CHANGED]


def test_what_is_unresolved():
    session = _session(OPEN, replace(ESCALATED, id="note_002"), replace(RESOLVED, id="note_003"))
    assert [note.id for note in unresolved(session)] == ["note_001", "note_002"]
