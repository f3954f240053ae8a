"""The last words of an agent that may not write files, where a decision is what it owes (H8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.daemon.ingest.final_message import last_words
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import Story

FOLDER = Path("/p/tasks/t/handoffs")
DECIDED = (
    "Well.\n\n# Handoff: pm\n**Action:** ORDER\n**Target:** explore\n**Run:** {run}\n\n## Instructions\nGo.\n"
)


@pytest.fixture
def asked():
    story = Story(pm="command")
    story.starts()
    return story.run_of("pm:1")


def put(said: str, run: object, *, decides: bool = True) -> tuple[str, MemoryFiles]:
    files = MemoryFiles()
    files.make_folder(FOLDER)
    return last_words(files, FOLDER, run, said, 1_764_254_100.0, decides=decides), files  # type: ignore[arg-type]


def test_a_decision_in_them_is_handed_in_for_it(asked):
    name, files = put(DECIDED.format(run=asked.id), asked)
    assert name.startswith("pm-")
    assert files.read(FOLDER / name).startswith(b"# Handoff: pm\n**Action:** ORDER")


@pytest.mark.parametrize(
    "said", [DECIDED.format(run="r-0"), "# Handoff: pm\n**Status:** COMPLETE\n", "Done."]
)
def test_anything_else_is_only_said(asked, said):
    name, files = put(said, asked)
    assert name == ""
    assert files.entries(FOLDER) == []


def test_a_decision_is_no_report(asked):
    assert put(DECIDED.format(run=asked.id), asked, decides=False)[0] == ""
