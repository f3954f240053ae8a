"""What a run of a workflow's agent finds in its files: what others handed in, as they handed it in."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.actions.workflow_launch import prepare_agent
from orchestrator.daemon.core.task_paths import TaskPaths
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.formats.workflow.session import read_session, render_session
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow import SESSION_FILE
from orchestrator.model.workflow_records import NoteStatus, Session
from tests.unit.pm.workflows import EPOCH, WorkflowStory, doer, note, plan_of

MADE = b"made by a\n"


class Judged:
    """A workflow in which `a` has handed in, and its verifier is about to be launched."""

    def __init__(self, root: Path) -> None:
        self.where = TaskPaths(root / "code", root / "home", root / "task", root / "trees")
        self.where.task.mkdir()
        self.folder = WorkflowFolder(DiskFiles(), self.where.task)
        self.story = WorkflowStory(plan_of(doer("a")))
        self.story.starts()
        self.story.leaves("do:a", notes=(note(1, NoteStatus.RESOLVED),))
        record = self.story.state.records["a"]
        digest = sha256(MADE).hexdigest()
        record = replace(record, outputs=(("a.sql", digest),))
        self.state = replace(self.story.state, records={**self.story.state.records, "a": record})
        self.record: AgentRecord = record
        self.copy = layout.task_reports(self.where.home) / digest
        self.copy.parent.mkdir(parents=True)
        self.copy.write_bytes(MADE)

    def prepare(self) -> None:
        """Make the verifier's files ready."""
        step = self.state.steps["verify:a"]
        self.put_back = prepare_agent(self.folder.files, self.where, self.state, step, self.story.at)


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    return Judged(tmp_path)


@pytest.mark.parametrize("left", [b"changed by its judge\n", None])
def test_judged_outputs_are_put_back(judged: Judged, left: bytes | None) -> None:
    """Outputs that were changed while they were judged void the pass: what is judged again is what was handed in."""
    path = "agents/a/task_output/a.sql"
    if left is not None:
        judged.folder.write(path, left)
    judged.prepare()
    assert judged.folder.read(path) == MADE
    assert judged.put_back == ("a.sql of a",)
    judged.prepare()
    assert not judged.put_back


def test_judged_notes_are_put_back(judged: Judged) -> None:
    """A note that its agent removed, which was refused, is there when the agent is judged."""
    path = f"agents/a/{SESSION_FILE}"
    judged.folder.write(path, render_session(Session(f"a_{EPOCH}", EPOCH)))
    judged.prepare()
    assert read_session(judged.folder.read(path), path) == judged.record.session


def test_what_a_dependent_builds_on_is_put_back(judged: Judged) -> None:
    """It begins with what was verified, whatever somebody wrote there since."""
    story = WorkflowStory(plan_of(doer("a"), doer("b", "a")))
    story.starts()
    story.verified("a")
    record = replace(story.state.records["a"], outputs=(("a.sql", judged.copy.name),))
    state = replace(story.state, records={**story.state.records, "a": record})
    judged.folder.write("agents/a/task_output/a.sql", b"changed by somebody\n")
    prepare_agent(judged.folder.files, judged.where, state, state.steps["do:b"], story.at)
    assert judged.folder.read("agents/a/task_output/a.sql") == MADE


def test_session_of_another_task_is_put_away(judged: Judged) -> None:
    """It is kept under its archive's name, which the log of the archive tells, and its notes are nobody's."""
    path = f"agents/a/{SESSION_FILE}"
    judged.folder.write(path, render_session(Session("old_task_1700000000", 1_700_000_000, (note(7),))))
    prepare_agent(
        judged.folder.files, judged.where, judged.state, judged.state.steps["do:a"], judged.story.at
    )
    there = read_session(judged.folder.read(path), path)
    assert judged.record.session is not None
    assert there.notes == judged.record.session.notes
    log = json.loads(judged.folder.read("agents/archival_agent/cleanup_log.json"))["operations"]
    assert (log[0]["operation"], "old_task" in log[0]["to"]) == ("stale", True)
    assert judged.folder.read(log[0]["to"])


def test_note_that_was_not_taken_yet_stays_when_its_agent_is_launched(judged: Judged) -> None:
    """An agent that crashed after a note, or somebody who added one, finds it there; a removed one is put back."""
    path, late = f"agents/a/{SESSION_FILE}", note(2)
    judged.folder.write(path, render_session(Session(f"a_{EPOCH}", EPOCH, (late,))))
    step = judged.state.steps["do:a"]
    prepare_agent(judged.folder.files, judged.where, judged.state, step, judged.story.at)
    there = read_session(judged.folder.read(path), path)
    assert judged.record.session is not None
    assert there.notes == (*judged.record.session.notes, late)


class Overtaken(DiskFiles):
    """Somebody renames a file of theirs over another one just before the daemon does."""

    theirs = b""

    def exchange(self, path: Path, data: bytes, mode: int = 0o600) -> Path | None:
        """Put `data` at `path`, too late the first time."""
        theirs, self.theirs = self.theirs, b""
        if theirs:
            self.write(path, theirs)
        return super().exchange(path, data, mode)


def test_note_that_lands_while_notes_are_written_stays(judged: Judged) -> None:
    """Under the id that the agent's own first note has, and with another text: both are there."""
    path, files = f"agents/a/{SESSION_FILE}", Overtaken()
    theirs = replace(note(1), description="Names are unique", timestamp=EPOCH + 9)
    files.theirs = render_session(Session(f"a_{EPOCH}", EPOCH, (theirs,)))
    prepare_agent(files, judged.where, judged.state, judged.state.steps["do:a"], judged.story.at)
    there = read_session(judged.folder.read(path), path)
    assert judged.record.session is not None
    assert there.notes == (*judged.record.session.notes, replace(theirs, id="note_002"))


def test_judged_outputs_are_kept_before_they_are_judged(judged: Judged) -> None:
    """The copy is written beside the decision, and a kill may have taken it."""
    judged.copy.unlink()
    judged.folder.write("agents/a/task_output/a.sql", MADE)
    judged.prepare()
    assert judged.copy.read_bytes() == MADE
