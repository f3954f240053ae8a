"""`records/events.jsonl` has each event once, whenever the daemon is killed and whatever cannot be written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator import layout
from orchestrator.daemon.journal.history import decided_since
from orchestrator.daemon.journal.store import Journal
from orchestrator.daemon.projections.workflow_events import WorkflowEvents
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model import facts as f
from orchestrator.pm.state.draft import Decision
from orchestrator.pm.state.task_state import PMState
from tests.unit.pm.workflows import WorkflowStory, carry_out, doer, plan_of

EVENTS = "task/orchestration/records/events.jsonl"


class JournaledStory(WorkflowStory):
    """A workflow whose decisions are journaled, and kept."""

    def __init__(self, home: Path) -> None:
        super().__init__(plan_of(doer("a"), doer("b", "a")))
        self.home = home
        self.journal = Journal(DiskFiles(), layout.task_journal(home))
        self.lines = list[tuple[PMState, f.Fact, Decision]]()

    def feed(self, fact: f.Fact) -> Decision:
        """Journal what was decided; what follows at once comes after it."""
        before, works, self.works = self.state, self.works, False
        decision = super().feed(fact)
        self.works = works
        if not decision.empty:
            self.journal.append(fact, decision)
            self.lines.append((before, fact, decision))
        for action in decision.actions if works else ():
            self._work(action)
        return decision


@pytest.fixture
def story(tmp_path: Path) -> JournaledStory:
    """A workflow with an escalated note, an answer and a rejection, carried out to its end."""
    story = JournaledStory(tmp_path / "state/tasks/demo-1")
    carry_out(story)
    return story


def noted(story: JournaledStory, folder: Path, lives: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """Return the events after daemons lived, each from one line to the next, of which it notes these."""
    folder.mkdir(exist_ok=True)
    for begins, ends in lives:
        events = WorkflowEvents(DiskFiles(), story.home)
        for seq in range(begins, ends):
            events.note(folder, *story.lines[seq - 1], seq)
    WorkflowEvents(DiskFiles(), story.home).catch_up(folder, story.state, len(story.lines))
    return read(folder)


def read(folder: Path) -> list[dict[str, Any]]:
    """Return the events that can be read; a torn line counts for nothing."""
    found = list[dict[str, Any]]()
    for line in (folder / "orchestration/records/events.jsonl").read_text().splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def test_lines_of_a_journal_are_what_was_decided(story: JournaledStory) -> None:
    found = list(decided_since(DiskFiles(), layout.task_journal(story.home), 0))
    assert [each.number for each in found] == list(range(1, len(story.lines) + 1))
    assert [(each.before, each.fact, each.decision.state) for each in found] == [
        (before, fact, decision.state) for before, fact, decision in story.lines
    ]


@pytest.mark.parametrize("missed", [1, 2, 3, 100])
def test_what_a_killed_daemon_missed_is_noted_later(
    story: JournaledStory, tmp_path: Path, missed: int
) -> None:
    """Killed after any line, with that one and up to 99 before it unrecorded: each event is there once."""
    end = len(story.lines) + 1
    whole = noted(story, tmp_path / "whole", [(1, end)])
    assert [each["seq"] for each in whole] == sorted(each["seq"] for each in whole)
    assert not any(each["event"] == "gap" for each in whole)
    for kill in range(1, end):
        lives = [(1, max(1, kill + 1 - missed)), (kill + 1, end)]
        assert noted(story, tmp_path / f"kill{kill}", lives) == whole, kill


def test_a_vanished_task_folder_is_not_made_anew(story: JournaledStory, tmp_path: Path) -> None:
    """The record of events made it anew, empty, just before its user was asked about it; so nobody was asked."""
    folder, end = tmp_path / "task", len(story.lines) + 1
    noted(story, folder, [(1, 3)])
    folder.rename(tmp_path / "elsewhere")
    events = WorkflowEvents(DiskFiles(), story.home)
    for seq in range(3, end - 1):
        events.note(folder, *story.lines[seq - 1], seq)
    assert not folder.exists()
    (tmp_path / "elsewhere").rename(folder)
    events.note(folder, *story.lines[end - 2], end - 1)
    assert read(folder) == noted(story, tmp_path / "whole", [(1, end)])


def test_torn_write_is_completed(story: JournaledStory, tmp_path: Path) -> None:
    """Cut off at any byte, the file has each event once when the daemon is back."""
    whole = noted(story, tmp_path / "whole", [(1, len(story.lines) + 1)])
    data = (tmp_path / "whole/orchestration/records/events.jsonl").read_bytes()
    torn = tmp_path / "torn/orchestration/records/events.jsonl"
    torn.parent.mkdir(parents=True)
    for cut in range(0, len(data), 53):
        torn.write_bytes(data[:cut])
        assert noted(story, tmp_path / "torn", []) == whole, cut


def test_events_of_a_lost_journal_are_kept_aside(story: JournaledStory, tmp_path: Path) -> None:
    """The journal begins anew with line 1: its numbers would fall."""
    folder = tmp_path / "task"
    whole = noted(story, folder, [(1, len(story.lines) + 1)])
    other = JournaledStory(tmp_path / "state/tasks/demo-2")
    other.starts()
    WorkflowEvents(DiskFiles(), other.home).catch_up(folder, other.state, len(other.lines))
    assert max(each["seq"] for each in read(folder)) == len(other.lines)
    kept = (folder / "orchestration/records/events_of_lost_journal.jsonl").read_text()
    assert [json.loads(line) for line in kept.splitlines()] == whole


def test_what_the_journal_lost_is_said_to_be_a_gap(story: JournaledStory, tmp_path: Path) -> None:
    folder, last = tmp_path / "task", len(story.lines)
    folder.mkdir()
    events = WorkflowEvents(DiskFiles(), story.home)
    for seq in (1, 2):
        events.note(folder, *story.lines[seq - 1], seq)
    segments = layout.task_journal(story.home)
    first = next(segments.iterdir())
    reopened = Journal(DiskFiles(), segments)
    first.rename(first.with_suffix(".gone"))
    reopened.lines = last
    reopened._begun_segment().close()
    before, fact, decision = story.lines[-1]
    reopened.append(fact, Decision(before, decision.changes))
    WorkflowEvents(DiskFiles(), story.home).catch_up(folder, story.state, last + 1)
    gap = next(each for each in read(folder) if each["event"] == "gap")
    assert gap["seq"] == last + 1
    assert gap["statuses"] == {"a": "session_complete", "b": "session_complete"}
