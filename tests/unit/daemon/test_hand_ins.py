"""What an agent hands in on a box is merged into the files here: its own entry, its notes, its outputs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.daemon.core.hand_ins import RUN_FILE, keep_sent, take_hand_in
from orchestrator.daemon.core.shared_status import SharedStatusFile
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.formats.workflow.session import read_session, render_session
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.workflow import SESSION_FILE, STATUS_FILE
from orchestrator.model.workflow_records import AgentStatus, Note, NoteStatus, Session
from tests.unit.pm.workflows import EPOCH, WorkflowStory, doer, note, plan_of

NOTES = f"agents/a/{SESSION_FILE}"


class OnABox:
    """A workflow whose agent a works on a box: its files here, and those of the box as they were brought."""

    def __init__(self, root: Path) -> None:
        self.files, self.home, self.brought = DiskFiles(), root / "home", root / "mirror"
        self.here = WorkflowFolder(self.files, root / "task")
        self.there = WorkflowFolder(self.files, self.brought)
        for each in (self.here.task, self.brought):
            each.mkdir()
        story = WorkflowStory(plan_of(doer("a"), doer("b")))
        story.starts()
        for step in ("do:a", "do:b"):
            story.comes_alive(step)
        self.state = story.state
        SharedStatusFile(self.here).publish(self.state, own=("a", "b"))
        sent = WorkflowFolder(self.files, keep_sent(self.files, self.here.task, self.home, "r1"))
        for name in (STATUS_FILE, RUN_FILE):
            self.there.write(name, sent.read(name))

    def says(self, agent: str, folder: WorkflowFolder, **fields: Any) -> None:
        """Somebody edits an entry of the status, here or there."""
        document = json.loads(folder.read(STATUS_FILE))
        document["agents"][agent].update(fields)
        folder.write(STATUS_FILE, json.dumps(document).encode())

    def notes(self, folder: WorkflowFolder, *notes: Note) -> None:
        """Somebody writes the notes of a, here or there."""
        folder.write(NOTES, render_session(Session(f"a_{EPOCH}", EPOCH, notes)))

    def take(self, run: str = "r1") -> dict[str, Any]:
        """Take in what the box has; return the entries of the status here."""
        wanted = ("a.sql", "run.log")
        take_hand_in(self.files, self.here.task, self.home, self.brought, run, "a", wanted)
        agents: dict[str, Any] = json.loads(self.here.read(STATUS_FILE))["agents"]
        return agents


@pytest.fixture
def box(tmp_path: Path) -> OnABox:
    return OnABox(tmp_path)


def test_own_entry_is_merged_with_what_others_wrote_here(box: OnABox) -> None:
    """The claim and a field that nobody knows come from the box, the claim of another agent stays."""
    box.says("a", box.there, status="ready_for_verification", mood="good")
    box.says("b", box.here, status="blocked")
    agents = box.take()
    assert (agents["a"]["status"], agents["a"]["mood"]) == ("ready_for_verification", "good")
    assert agents["b"]["status"] == "blocked"
    assert SharedStatusFile(box.here).claim("a") is AgentStatus.READY
    assert box.take() == agents


def test_agent_on_a_box_speaks_for_nobody_else(box: OnABox) -> None:
    box.says("b", box.there, status="verified")
    box.says("a", box.there, dependencies=["b"])
    agents = box.take()
    assert agents["b"]["status"] == "working"
    (edit,) = SharedStatusFile(box.here).refused(box.state)
    assert "a.dependencies" in edit


def test_files_of_an_earlier_run_count_for_nothing(box: OnABox) -> None:
    """The box was lost before it was seen again: what was brought last says what the run before claimed."""
    box.says("a", box.there, status="ready_for_verification")
    box.there.write("agents/a/task_output/a.sql", b"old")
    assert box.take("r2")["a"]["status"] == "working"
    assert not box.here.read("agents/a/task_output/a.sql")


def test_notes_of_both_sides_stay(box: OnABox) -> None:
    """Somebody added a note here while the agent wrote its first there, with the same number."""
    theirs = replace(note(1), description="Names are unique", timestamp=EPOCH + 9)
    box.notes(box.there, note(1, NoteStatus.RESOLVED))
    box.notes(box.here, theirs)
    box.take()
    session = read_session(box.here.read(NOTES), NOTES)
    assert session.notes == (note(1, NoteStatus.RESOLVED), replace(theirs, id="note_002"))


def test_outputs_come_that_the_plan_wants(box: OnABox) -> None:
    for name in ("a.sql", "other.txt"):
        box.there.write(f"agents/a/task_output/{name}", b"made there")
    box.here.write("agents/a/task_output/a.sql", b"of the attempt before")
    box.take()
    assert box.here.read("agents/a/task_output/a.sql") == b"made there"
    assert not box.here.read("agents/a/task_output/other.txt")


@pytest.mark.parametrize("broken", [b"{ no JSON", b"[]"])
def test_broken_status_there_breaks_nothing_here(box: OnABox, broken: bytes) -> None:
    """It claims nothing, so that its agent is asked again; it is kept."""
    box.there.write(STATUS_FILE, broken)
    assert box.take()["a"]["status"] == "working"
    (kept,) = (box.here.root / "records/unreadable").iterdir()
    assert kept.read_bytes() == broken


def test_broken_notes_there_are_judged_as_they_are(box: OnABox) -> None:
    box.there.write(NOTES, b"{ no JSON")
    box.take()
    assert box.here.read(NOTES) == b"{ no JSON"


def test_link_in_what_was_brought_leads_nowhere(box: OnABox) -> None:
    """rsync brings none; should one be there, it is not followed."""
    secret = box.home.parent / "secret"
    secret.write_text("secret")
    output = box.there.root / "agents/a/task_output"
    output.mkdir(parents=True)
    (output / "a.sql").symlink_to(secret)
    box.take()
    assert not box.here.read("agents/a/task_output/a.sql")
