"""Edits of a workflow's files between two turn ends: notes are taken as they land, forbidden edits are put back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.daemon.core.shared_status import SharedStatusFile
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.daemon.ingest.workflow_edits import WorkflowEdits
from orchestrator.formats.workflow.session import render_session
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.facts import EditsRefused, Fact, NotesLanded
from orchestrator.model.workflow_records import Note, NoteStatus, Session
from tests.unit.pm.workflows import EPOCH, WorkflowStory, doer, note, plan_of


class Edited:
    """A workflow of two agents, of which a works, with its files on the disk."""

    def __init__(self, folder: Path) -> None:
        self.task = folder
        self.root = WorkflowFolder(DiskFiles(), folder)
        self.edits = WorkflowEdits(DiskFiles())
        self.story = WorkflowStory(plan_of(doer("a"), doer("b", "a")))
        self.story.starts()
        self.story.comes_alive("do:a")
        SharedStatusFile(self.root).publish(self.story.state)
        self.look()

    def look(self, only: str | None = None, *, shown: bool = True) -> list[Fact]:
        """Look for edits."""
        nonce = self.story.nonce
        return list(self.edits.look(self.task, self.story.state, self.story.at, nonce, only, shown=shown))

    def notes(self, agent: str, *notes: Note) -> None:
        """Somebody writes the session of an agent."""
        data = render_session(Session(f"{agent}_{EPOCH}", EPOCH, notes))
        self.root.write(f"agents/{agent}/completion_drive/session_current.json", data)

    def status(self, agent: str, **fields: object) -> None:
        """Somebody edits an entry of the shared status."""
        document = json.loads(self.root.read("shared_status.json"))
        document["agents"][agent].update(fields)
        self.root.write("shared_status.json", json.dumps(document).encode())


@pytest.fixture
def edited(tmp_path: Path) -> Edited:
    return Edited(tmp_path)


def test_notes_are_taken_as_they_land(edited: Edited) -> None:
    """The gate is blocked while the agent still works; the same bytes are taken once."""
    edited.notes("a", note(1))
    (fact,) = edited.look("a")
    assert isinstance(fact, NotesLanded)
    assert fact.own
    edited.story.feed(fact)
    assert edited.story.shown("a").unresolved_notes == 1
    assert edited.look() == []


def test_half_written_notes_are_passed_over(edited: Edited) -> None:
    edited.root.write("agents/a/completion_drive/session_current.json", b'{"task_id":')
    assert edited.look("a") == []


def test_unknown_writer_may_add_a_note_and_not_resolve_one(edited: Edited) -> None:
    """b has not begun: whoever resolves its note is unknown, and the note stays open."""
    resolved = note(2, NoteStatus.RESOLVED)
    edited.notes("b", note(1), resolved)
    (fact,) = edited.look("b")
    assert isinstance(fact, NotesLanded)
    assert not fact.own
    edited.story.feed(fact)
    session = edited.story.state.records["b"].session
    assert session is not None
    assert [each.status for each in session.notes] == [NoteStatus.OPEN, NoteStatus.OPEN]
    assert "put back" in edited.story.state.notices[-1]


def test_removed_note_stays(edited: Edited) -> None:
    edited.notes("a", note(1))
    edited.story.feed(*edited.look("a"))
    edited.notes("a")
    edited.story.feed(*edited.look("a"))
    session = edited.story.state.records["a"].session
    assert session is not None
    assert [each.id for each in session.notes] == ["note_001"]


@pytest.mark.parametrize(
    ("agent", "fields", "named"),
    [("b", {"status": "verified"}, "b.status"), ("a", {"dependencies": ["b"]}, "a.dependencies")],
    ids=["status of another", "dependencies"],
)
def test_forbidden_edit_is_put_back_and_reported(
    edited: Edited, agent: str, fields: dict[str, object], named: str
) -> None:
    edited.status(agent, **fields)
    (fact,) = edited.look("")
    assert isinstance(fact, EditsRefused)
    assert named in fact.edits[0]
    edited.story.feed(fact)
    assert named in edited.story.state.notices[-1]
    SharedStatusFile(edited.root).publish(edited.story.state)
    assert edited.look("") == []


def test_own_claim_is_no_forbidden_edit(edited: Edited) -> None:
    edited.status("a", status="ready_for_verification", note_to_self="kept")
    assert edited.look("") == []


def test_nothing_is_refused_before_the_state_is_shown(edited: Edited) -> None:
    """A file that is about to be written may say what the state said before."""
    edited.status("b", status="blocked")
    assert edited.look("", shown=False) == []
    assert edited.look("") != []


def test_files_of_other_agents_are_not_read(edited: Edited) -> None:
    edited.notes("a", note(1))
    assert edited.look("b") == []
    assert len(edited.look("a")) == 1
