"""Edits of task.md: handled at once, and less and less often where they do not end."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.daemon.ingest.brief_edits import BriefEdits
from orchestrator.model.errors import BadFile
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import Story

PATH = Path("/project/tasks/demo/task.md")
TEXT = "# Task: Title\n\n## Goal\n{goal}\n\n## Success Criteria\n- [ ] All tests pass\n"


class Editor:
    """A task.md that is edited, and what is made of its edits."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.files = MemoryFiles(now=lambda: self.now)
        self.files.make_folder(PATH.parent)
        self.edits = BriefEdits(self.files)
        self.story = Story()
        self.story.starts()

    def write(self, goal: str) -> None:
        self.files.write(PATH, TEXT.format(goal=goal).encode())

    def look(self) -> list[str]:
        """Return the goal of the edit that is handled now, if one is."""
        fact = self.edits.look(PATH, self.story.state, self.now)
        if fact is None:
            return []
        self.story.feed(fact)
        return [fact.brief.goal]


@pytest.fixture
def editor() -> Editor:
    return Editor()


def test_edit_is_a_fact_at_once_and_once(editor: Editor) -> None:
    editor.write("Make it faster")
    assert editor.look() == ["Make it faster"]
    assert editor.look() == []
    assert editor.edits.due_at is None


def test_an_edit_that_does_not_read_is_a_fault_until_mended(editor: Editor) -> None:
    editor.files.write(PATH, b"# Task: Title\n\n## Goal\nGo\n\n## Agent Config\ndev.modle: opus\n")
    with pytest.raises(BadFile):
        editor.look()
    assert "task.md, line 7: " in editor.edits.fault
    assert editor.look() == []
    assert editor.edits.fault
    editor.write("Make it faster")
    assert editor.look() == ["Make it faster"]
    assert not editor.edits.fault


def test_edits_in_a_loop_are_a_few_facts_and_the_last_counts(editor: Editor) -> None:
    handled = []
    for number in range(3600):
        editor.write(f"Make it {number} times faster")
        handled += editor.look()
        editor.now += 1.0
    assert len(handled) < 75
    due = editor.edits.due_at
    assert due is not None
    editor.now = due
    assert editor.look() == ["Make it 3599 times faster"]
    assert editor.edits.due_at is None


def test_edit_that_cannot_be_parsed_is_an_error_once(editor: Editor) -> None:
    editor.files.write(PATH, b"no task")
    with pytest.raises(BadFile):
        editor.look()
    assert editor.look() == []
