"""Two notes with one id: both stay, and each look at the same file comes to the same numbers."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.model.note_numbers import free_id, numbered_apart
from orchestrator.model.workflow_records import Note, NoteStatus

FIRST = Note("note_001", 10, "Assuming UTC", "Writing the parser", NoteStatus.OPEN)
SECOND = Note("note_001", 12, "Names are unique", "Writing the table", NoteStatus.OPEN)


def test_second_note_of_an_id_gets_the_next_one() -> None:
    known = (FIRST, replace(SECOND, id="note_002", description="Other", timestamp=11))
    assert [(each.id, each.description) for each in numbered_apart(known, (SECOND,))] == [
        ("note_003", "Names are unique"),
        ("note_001", "Assuming UTC"),
    ]


def test_edit_of_a_note_is_no_second_note() -> None:
    for edit in (
        replace(FIRST, status=NoteStatus.ESCALATED, timestamp=99, context="elsewhere"),
        replace(FIRST, description="Assuming local time"),
    ):
        assert numbered_apart((FIRST,), (edit,)) == (edit,)


def test_other_text_without_a_context_is_another_note() -> None:
    """The time alone, in seconds, does not tell an edit from the note of somebody else."""
    first, second = replace(FIRST, context=""), replace(FIRST, context="", description="Names are unique")
    assert len(numbered_apart((first,), (second,))) == 2


def test_renumbered_note_is_known_again_though_its_file_has_the_old_number() -> None:
    """The file of a live run is not written: it says the same at the next look, edited or not."""
    known = (FIRST, replace(SECOND, id="note_002"))
    edited = replace(SECOND, status=NoteStatus.ESCALATED, escalation_reason="not mine")
    for said in (SECOND, edited):
        assert set(numbered_apart(known, (said,))) == {FIRST, replace(said, id="note_002")}


def _note(number: int, description: str, context: str) -> Note:
    return Note(f"note_{number:03}", 1, description, context, NoteStatus.OPEN)


_NOTES = st.lists(
    st.builds(
        Note,
        st.sampled_from(["note_001", "note_002", "note_003"]),
        st.integers(1, 3),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["", "here", "there"]),
        st.sampled_from([NoteStatus.OPEN]),
    ),
    unique_by=lambda note: note.id,
    max_size=3,
)


@example(
    [_note(2, "a", ""), _note(1, "a", ""), _note(3, "c", "")],
    [_note(1, "c", "there"), _note(2, "c", ""), _note(3, "a", "there")],
)
@given(_NOTES, _NOTES)
def test_no_note_is_lost(known: list[Note], written: list[Note]) -> None:
    """Each id is there once, each text of either side is there as long as it is not edited, and twice is as once."""
    apart = numbered_apart(known, written)
    assert len({note.id for note in apart}) == len(apart)
    assert [replace(note, id="") for note in apart[: len(written)]] == [
        replace(note, id="") for note in written
    ]
    now = {note.id: note for note in apart}
    kept = [*apart, *(note for note in known if note.id not in now)]
    for note in known:
        there = next(each for each in kept if each.id == note.id)
        assert there.description == note.description or (
            (there.context, there.timestamp) == (note.context, note.timestamp)
        )
    again = numbered_apart(kept, written)
    assert {note.id for note in again} <= {note.id for note in kept}


def test_free_id_is_the_first() -> None:
    assert free_id(["note_001", "note_003", "x"]) == "note_002"
