"""The document's own examples of files are read as they stand and written back equal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.formats.workflow.archives import archive_name
from orchestrator.formats.workflow.results import read_results, render_results
from orchestrator.formats.workflow.session import read_session, render_session
from orchestrator.formats.workflow.status import read_status, render_status
from orchestrator.model.workflow import (
    DECISION_FILE,
    INSTRUCTIONS_FILE,
    OUTPUT_FOLDER,
    PLAN_FILE,
    RESULTS_FILE,
    SESSION_FILE,
    STATUS_FILE,
)
from orchestrator.model.workflow_records import AgentStatus, Gate, NoteStatus, Resolver

PAGE = (Path(__file__).parents[3] / "fixtures" / "wf" / "examples.md").read_text()
EXAMPLES: dict[str, str] = dict(
    re.findall(r"^## (.*?)\n\n```(?:json)?\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
)
READERS: dict[str, tuple[Callable[..., Any], Callable[..., bytes]]] = {
    "shared_status.json": (read_status, render_status),
    "session_current.json": (read_session, render_session),
    "verification_results.json": (read_results, render_results),
    "verification_results.json, again": (read_results, render_results),
}


@pytest.mark.parametrize("title", READERS)
def test_example_is_written_back_as_it_was(title):
    read, render = READERS[title]
    data = EXAMPLES[title].encode()
    assert render(read(data), data) == data


@pytest.mark.parametrize("title", READERS)
def test_example_written_afresh_says_the_same(title):
    """Without the old file, fields that the example leaves out may appear with the meaning of their absence."""
    read, render = READERS[title]
    written = render(read(EXAMPLES[title].encode()))
    assert read(written) == read(EXAMPLES[title].encode())
    assert _holds(json.loads(written), json.loads(EXAMPLES[title]))


def test_values_of_the_status_example():
    status = read_status(EXAMPLES["shared_status.json"].encode())
    database, api, frontend = status.agents
    assert (database.status, database.notes_count, database.unresolved_notes) == (AgentStatus.REVIEW, 3, 1)
    assert (api.unresolved_notes, api.dependencies) == (0, ())
    assert (frontend.dependencies, frontend.last_update) == (("database_agent", "api_agent"), None)
    assert status.gate is Gate.BLOCKED
    assert status.verification[0].assigned_agents == ("database_agent",)


def test_values_of_the_session_example():
    (note,) = read_session(EXAMPLES["session_current.json"].encode()).notes
    assert (note.id, note.status, note.resolved_by) == ("note_001", NoteStatus.RESOLVED, Resolver.EXECUTOR)


def test_tree_names_the_files_that_the_model_names():
    tree = EXAMPLES["Directory structure"]
    folder, _, session = SESSION_FILE.partition("/")
    for name in (
        PLAN_FILE,
        STATUS_FILE,
        INSTRUCTIONS_FILE,
        f"{folder}/",
        session,
        RESULTS_FILE,
        f"{OUTPUT_FOLDER}/",
    ):
        assert name in tree
    assert DECISION_FILE not in tree  # it is an addition
    assert archive_name("create_user_table_1727539200", 1759069800) in tree


def _holds(written: object, wanted: object) -> bool:
    if isinstance(wanted, dict):
        assert isinstance(written, dict)
        return all(_holds(written.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        assert isinstance(written, list)
        return len(written) == len(wanted) and all(map(_holds, written, wanted))
    return written == wanted
