"""The folder of a workflow's files: agents write there, and may put anything in the place of anything."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.daemon.core.shared_status import SharedStatusFile, spoken_for_in
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.daemon.projections.workflow_files import WorkflowFiles
from orchestrator.formats.workflow.archives import read_archive_index
from orchestrator.formats.workflow.session import read_session, render_session
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import BadFile
from orchestrator.model.task import TaskState
from orchestrator.model.workflow import SESSION_FILE
from orchestrator.model.workflow_records import AgentStatus, NoteStatus, Session
from orchestrator.pm.state.runs import Runs
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.files import Unreadable
from tests.unit.pm.workflows import EPOCH, WorkflowStory, doer, note, plan_of


@pytest.fixture
def folder(tmp_path: Path) -> WorkflowFolder:
    (tmp_path / "orchestration" / "agents" / "a" / "task_output").mkdir(parents=True)
    return WorkflowFolder(DiskFiles(), tmp_path)


def statuses(folder: WorkflowFolder) -> dict[str, str]:
    """Return the statuses in the shared status."""
    document = json.loads(folder.read("shared_status.json"))
    return {name: entry["status"] for name, entry in document["agents"].items()}


def claims(folder: WorkflowFolder, agent: str, status: str) -> None:
    """An agent edits the shared status."""
    document = json.loads(folder.read("shared_status.json"))
    document["agents"][agent]["status"] = status
    folder.write("shared_status.json", json.dumps(document).encode())


@pytest.mark.parametrize("where", ["agents", "agents/a", "agents/a/task_output"])
def test_linked_folder_is_neither_read_nor_written(
    folder: WorkflowFolder, tmp_path: Path, where: str
) -> None:
    """An agent that puts a link there cannot have the daemon read or write elsewhere."""
    elsewhere = tmp_path / "elsewhere" / "a" / "task_output"
    elsewhere.mkdir(parents=True)
    (elsewhere / "secret").write_text("secret")
    there = tmp_path / "orchestration" / where
    there.rename(tmp_path / "moved")
    target = {"agents": tmp_path / "elsewhere", "agents/a": elsewhere.parent}.get(where, elsewhere)
    there.symlink_to(target)
    with pytest.raises(Unreadable):
        folder.read("agents/a/task_output/secret")
    with pytest.raises(Unreadable):
        folder.write("agents/a/task_output/new", b"")
    assert folder.digest("a", "secret") == ""
    assert not (elsewhere / "new").exists()


def test_linked_output_does_not_count(folder: WorkflowFolder, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "orchestration/agents/a/task_output/out.md").symlink_to(tmp_path / "secret")
    assert folder.digest("a", "out.md") == ""


def test_pipe_as_output_does_not_hang(folder: WorkflowFolder, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "orchestration/agents/a/task_output/out.md")
    assert folder.digest("a", "out.md") == ""


def test_claim_of_a_live_run_stays_until_its_turn_ends(folder: WorkflowFolder) -> None:
    """Other entries are put back to what the state says."""
    story = WorkflowStory(plan_of(doer("a"), doer("b")))
    story.starts()
    SharedStatusFile(folder).publish(story.state)
    claims(folder, "a", "ready_for_verification")
    story.state = _without_runs(story, "do:b")
    claims(folder, "b", "verified")
    SharedStatusFile(folder).publish(story.state)
    assert statuses(folder)["a"] == "ready_for_verification"
    assert statuses(folder)["b"] == "working"


def test_launch_takes_an_earlier_claim_back(folder: WorkflowFolder) -> None:
    """What an earlier run wrote is no claim of the next one."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    SharedStatusFile(folder).publish(story.state)
    claims(folder, "a", "ready_for_verification")
    SharedStatusFile(folder).publish(story.state, own=("a",))
    assert statuses(folder)["a"] == "working"


def test_older_state_takes_no_claim_back(folder: WorkflowFolder) -> None:
    """The page that shows a state may come late, after the launch of a run that this state does not know."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a", claim=AgentStatus.WORKING, notes=())
    older = replace(story.state, runs=Runs(), orders={})
    SharedStatusFile(folder).publish(story.state, own=("a",))
    claims(folder, "a", "ready_for_verification")
    SharedStatusFile(folder).publish(older)
    assert statuses(folder)["a"] == "ready_for_verification"


def test_unchanged_status_is_not_written_again(folder: WorkflowFolder, tmp_path: Path) -> None:
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    SharedStatusFile(folder).publish(story.state)
    path = tmp_path / "orchestration" / "shared_status.json"
    first = path.stat().st_ino
    SharedStatusFile(folder).publish(story.state)
    assert path.stat().st_ino == first


def test_broken_status_is_kept_aside(folder: WorkflowFolder, tmp_path: Path) -> None:
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    folder.write("shared_status.json", b"{")
    with pytest.raises(BadFile):
        SharedStatusFile(folder).claim("a")
    SharedStatusFile(folder).publish(story.state)
    assert SharedStatusFile(folder).claim("a") is AgentStatus.WORKING
    assert [each.read_bytes() for each in (tmp_path / "orchestration/records/unreadable").iterdir()] == [b"{"]


def test_unknown_status_is_no_claim(folder: WorkflowFolder) -> None:
    folder.write("shared_status.json", b'{"agents": {"a": {"status": "splendid"}, "b": 3}}')
    assert SharedStatusFile(folder).claim("a") is None
    assert SharedStatusFile(folder).claim("b") is None


def test_moved_file_gets_a_free_name(folder: WorkflowFolder) -> None:
    for text in (b"1", b"2"):
        folder.write("agents/a/verification_results.json", text)
        folder.move("agents/a/verification_results.json", "records/verifications/a.json")
    assert folder.read("records/verifications/a.json") == b"1"
    assert folder.read("records/verifications/a_2.json") == b"2"
    assert folder.move("agents/a/verification_results.json", "records/x.json") == ""


def test_verifier_speaks_for_its_subject() -> None:
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a")
    assert spoken_for_in(story.state) == {"a"}


def _without_runs(story: WorkflowStory, step: str) -> PMState:
    """Return the state as if the order of a step's run were closed: nobody may speak for it."""
    order = story.run_of(step).order
    return replace(
        story.state, orders={name: each for name, each in story.state.orders.items() if name != order}
    )


def test_complete_workflow_started_again_archives_nothing_anew(folder: WorkflowFolder) -> None:
    """Its sessions were written again from the journal, and archived once more each time."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.verified("a")
    assert story.task() is TaskState.COMPLETE
    files = WorkflowFiles(folder)
    session = story.state.records["a"].session
    assert session is not None
    for agent in ("a", "judge"):
        folder.write(f"agents/{agent}/{SESSION_FILE}", render_session(session))
    for state in (story.state, replace(story.state, state=TaskState.RUNNING), story.state):
        files.show(state, story.at)
        story.at += 60
    index = read_archive_index(folder.read("agents/archival_agent/archive_index.json"))
    assert len(index) == len({each.agent for each in index}) == 2


def test_notes_are_archived_as_they_were_accepted(folder: WorkflowFolder) -> None:
    """A verifier's pass completes the workflow: a note that was removed before is in the archive all the same."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    story.leaves("do:a", notes=(note(1, NoteStatus.RESOLVED),))
    story.judges("verify:a")
    folder.write(f"agents/a/{SESSION_FILE}", render_session(Session(f"a_{EPOCH}", EPOCH)))
    WorkflowFiles(folder).show(story.state, story.at)
    index = read_archive_index(folder.read("agents/archival_agent/archive_index.json"))
    assert [each.notes for each in index if each.agent == "a"] == [1]


def test_note_that_was_not_taken_yet_stays_when_an_answer_is_written(folder: WorkflowFolder) -> None:
    """Somebody adds a note while the user's answer is on its way into the file: neither is lost."""
    story = WorkflowStory(plan_of(doer("a")))
    story.starts()
    asked, late, path = note(1, NoteStatus.ESCALATED), note(2), f"agents/a/{SESSION_FILE}"
    story.leaves("do:a", notes=(asked,), claim=AgentStatus.BLOCKED)
    story.answers(story.question().id, "Yes")
    idle = replace(story.state, runs=Runs())
    folder.write(path, render_session(Session(f"a_{EPOCH}", EPOCH, (asked, late))))
    WorkflowFiles(folder).show(idle, story.at)
    there = read_session(folder.read(path), path).notes
    assert [(each.id, each.resolution) for each in there] == [("note_001", "Yes"), ("note_002", "")]


def test_write_over_an_old_copy_leaves_what_came_since(folder: WorkflowFolder) -> None:
    folder.write("a.json", b"read")
    assert folder.replace("a.json", b"ours", b"read")
    assert not folder.replace("a.json", b"ours again", b"read")
    assert folder.read("a.json") == b"ours"
    assert not list(folder.root.glob(".tmp-*"))


def test_file_that_somebody_is_writing_is_not_replaced(folder: WorkflowFolder) -> None:
    """What they write next lands in the file that everybody reads."""
    folder.write("a.json", b"read")
    with (folder.root / "a.json").open("ab") as file:
        assert not folder.replace("a.json", b"ours", b"read")
        file.write(b", and more")
    assert folder.read("a.json") == b"read, and more"
