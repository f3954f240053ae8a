"""What agents write while a workflow runs: what is read, what is refused, and that unknown fields stay."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.formats.workflow.archives import (
    archive_name,
    read_archive_index,
    read_cleanup_log,
    render_archive_index,
    render_cleanup_log,
)
from orchestrator.formats.workflow.edits import read_edits
from orchestrator.formats.workflow.json_text import json_text
from orchestrator.formats.workflow.research import (
    OLD_AFTER,
    is_old,
    read_research,
    render_research,
    research_name,
)
from orchestrator.formats.workflow.results import (
    read_judgement,
    read_resolution,
    read_results,
    render_judgement,
    render_resolution,
    render_results,
)
from orchestrator.formats.workflow.session import read_session, render_kept, render_session
from orchestrator.formats.workflow.status import read_status, render_status
from orchestrator.model.errors import BadFile
from orchestrator.model.workflow import EditKind
from orchestrator.model.workflow_records import (
    AgentStatus,
    ArchivalOperation,
    ArchivedSession,
    CleanupOperation,
    Note,
    NoteKind,
    NoteStatus,
    Research,
    Route,
)

TASK = "user_table_1727539200"
NOTE: dict[str, Any] = {
    "note_id": "note_001",
    "timestamp": 5,
    "description": "d",
    "context": "c",
    "status": "open",
}
RESOLVED = {
    **NOTE,
    "status": "resolved",
    "resolution": "r",
    "resolved_by": "agent_self",
    "resolution_timestamp": 6,
}
SESSION: dict[str, Any] = {"task_id": TASK, "session_start": 1, "notes": [NOTE]}
STATUS: dict[str, Any] = {
    "task_id": "t",
    "status": "pending",
    "session_start": None,
    "agents": {"a": {"status": "pending"}},
}
RESULTS: dict[str, Any] = {"task_id": TASK, "timestamp": 5, "result": "fail", "missing_evidence": ["x"]}
JUDGEMENT: dict[str, Any] = {
    "task_id": TASK,
    "timestamp": 5,
    "evidence": "partial",
    "decision": "adapt",
    "rationale": "It is slow",
    "edits": [{"edit": "set_needs", "agent": "a", "needs": ["b"]}],
}
ADDED = {
    "id": "cache",
    "task_id": "cache_1727539300",
    "kind": "doer",
    "title": "Cache",
    "persona": "dev",
}
RESOLUTION: dict[str, Any] = {
    "task_id": TASK,
    "timestamp": 5,
    "items": [{"agent": "a", "note_id": "note_001", "route": "answer", "text": "Yes", "checked": ["b"]}],
}
READERS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "session": (read_session, render_session, SESSION),
    "status": (read_status, render_status, STATUS),
    "results": (read_results, render_results, RESULTS),
    "judgement": (read_judgement, render_judgement, JUDGEMENT),
    "resolution": (read_resolution, render_resolution, RESOLUTION),
}


def data(document: Any) -> bytes:
    return json.dumps(document).encode()


@pytest.mark.parametrize("kind", READERS)
def test_unknown_fields_stay_and_equal_content_is_not_rewritten(kind):
    read, render, document = READERS[kind]
    base = data({"mine": [1, {"x": None}], **document})
    assert render(read(base), base) == base
    again = json.loads(render(replace(read(base), task_id="other_1727539200"), base))
    assert again["mine"] == [1, {"x": None}]
    assert again["task_id"] == "other_1727539200"
    assert {key for key in again if key != "mine"} == document.keys()


@pytest.mark.parametrize("kind", READERS)
def test_broken_base_is_replaced(kind):
    read, render, document = READERS[kind]
    assert read(render(read(data(document)), b"{")) == read(data(document))


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("text", [b"", b"[]", b"{", b'{"a": 1, "a": 2}', b"nul\0", b'{"a": NaN}', b"[" * 99])
def test_what_is_no_json_object_is_refused(kind, text):
    read, _, _ = READERS[kind]
    with pytest.raises(BadFile):
        read(text)


def test_unknown_fields_of_a_note_stay_when_it_is_answered():
    base = data({**SESSION, "notes": [{**NOTE, "mood": "bad"}]})
    session = read_session(base)
    answered = replace(session.notes[0], status=NoteStatus.ESCALATED, escalation_reason="why")
    written = json.loads(render_session(replace(session, notes=(answered,)), base))
    assert written["notes"] == [{**NOTE, "mood": "bad", "status": "escalated", "escalation_reason": "why"}]


def test_new_note_is_written_with_the_document_s_fields():
    session = replace(read_session(data(SESSION)), notes=(Note("note_001", 1, "d", "c", NoteStatus.OPEN),))
    (note,) = json.loads(render_session(session))["notes"]
    assert list(note) == [
        *("note_id", "timestamp", "description", "context", "status"),
        *("resolution", "resolved_by", "resolution_timestamp", "escalation_reason"),
    ]


def test_agent_that_left_the_plan_leaves_the_status():
    base = data({**STATUS, "agents": {"a": {"status": "pending", "x": 1}, "b": {"status": "working"}}})
    status = read_status(base)
    written = json.loads(render_status(replace(status, agents=status.agents[:1]), base))
    assert written["agents"] == {"a": {"status": "pending", "x": 1}}


def test_omitted_status_fields_stay_omitted():
    """What a status leaves out stays out when something else changes."""
    status = read_status(data(STATUS))
    working = replace(status.agents[0], status=AgentStatus.WORKING)
    written = json.loads(render_status(replace(status, agents=(working,)), data(STATUS)))
    assert written["agents"]["a"] == {"status": "working"}


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("session", {"task_id": "user_table"}),
        ("session", {"task_id": None}),
        ("session", {"session_start": "2025-09-28T14:30:00"}),
        ("session", {"session_start": 1.5}),
        ("session", {"session_start": True}),
        ("session", {"notes": {}}),
        ("session", {"notes": [{**NOTE, "status": "done"}]}),
        ("session", {"notes": [{**NOTE, "description": " "}]}),
        ("session", {"notes": [{**NOTE, "status": "escalated"}]}),
        ("session", {"notes": [{**NOTE, "kind": "taste"}]}),
        ("session", {"notes": [{**RESOLVED, "resolution": ""}]}),
        ("session", {"notes": [{**RESOLVED, "resolution": None}]}),
        ("session", {"notes": [{**RESOLVED, "resolved_by": "me"}]}),
        ("session", {"notes": [{**RESOLVED, "resolved_by": None}]}),
        ("session", {"notes": [{**RESOLVED, "resolution_timestamp": None}]}),
        ("session", {"notes": [{**NOTE, "context": "\x1b[2J"}]}),
        ("session", {"notes": [{**NOTE, "note_id": f"n{at}"} for at in range(1001)]}),
        ("status", {"status": "done"}),
        ("status", {"agents": {"a": {"status": "finished"}}}),
        ("status", {"agents": {"a": {}}}),
        ("status", {"agents": {"../a": {"status": "pending"}}}),
        ("status", {"agents": {"a": {"status": "pending", "last_update": "now"}}}),
        ("status", {"agents": []}),
        ("status", {"overall_completion_drive_gate": "open"}),
        ("status", {"verification": {"v": {"status": "passed"}}}),
        ("results", {"result": "pass"}),
        ("results", {"missing_evidence": []}),
        ("results", {"missing_evidence": "x"}),
        ("results", {"missing_evidence": [""]}),
        ("judgement", {"evidence": "good"}),
        ("judgement", {"decision": "proceed", "edits": []}),
        ("judgement", {"evidence": "fail"}),
        ("judgement", {"edits": []}),
        ("judgement", {"decision": "ask"}),
        ("judgement", {"edits": [{"edit": "set_needs", "agent": "a"}]}),
        ("judgement", {"edits": [{"edit": "set_needs", "agent": "a", "needs": [], "verifier": "v"}]}),
        ("judgement", {"edits": [{"edit": "add_agent", "agent": "a", "instructions": "x"}]}),
        ("judgement", {"edits": [{"edit": "add_agent", "agent": "a", "instructions": "x", "added": ADDED}]}),
        ("judgement", {"edits": [{"edit": "set_bounds", "agent": "a", "bounds": {"tries": 3}}]}),
        ("judgement", {"edits": [{"edit": "set_verifier", "agent": "a"}]}),
        ("judgement", {"edits": [{"edit": "rename", "agent": "a"}]}),
        ("resolution", {"items": []}),
        ("resolution", {"items": [{**RESOLUTION["items"][0], "text": ""}]}),
        ("resolution", {"items": [{**RESOLUTION["items"][0], "route": "edit"}]}),
        ("resolution", {"items": [{**RESOLUTION["items"][0], "route": "boss"}]}),
    ],
)
def test_document_with_a_fault_is_refused(kind, change):
    read, _, document = READERS[kind]
    read(data(document))
    with pytest.raises(BadFile) as error:
        read(data({**document, **change}))
    assert all(fault.reason for fault in error.value.faults)


def test_values_of_a_judgement_and_a_resolution():
    judgement = read_judgement(data(JUDGEMENT))
    assert [(edit.kind, edit.agent, edit.needs) for edit in judgement.edits] == [
        (EditKind.SET_NEEDS, "a", ("b",))
    ]
    (item,) = read_resolution(data(RESOLUTION)).items
    assert (item.route, item.note, item.checked) == (Route.ANSWER, "note_001", ("b",))


OTHER: dict[str, Any] = {**NOTE, "description": "Another", "timestamp": 9, "mood": "bad"}


def test_second_note_of_one_id_gets_an_id_of_its_own():
    """With the fields of it that nobody knows. The file is written anew though the session says the same."""
    written = data({**SESSION, "notes": [NOTE, OTHER, NOTE]})
    session = read_session(written)
    assert [(each.id, each.description) for each in session.notes] == [
        ("note_001", NOTE["description"]),
        ("note_002", "Another"),
    ]
    for render in (render_session, render_kept):
        assert json.loads(render(session, written))["notes"] == [NOTE, {**OTHER, "note_id": "note_002"}]


def test_later_version_of_a_note_in_one_file_counts():
    (note,) = read_session(data({**SESSION, "notes": [NOTE, {**RESOLVED, "note_id": "note_001"}]})).notes
    assert note.status is NoteStatus.RESOLVED


def test_note_that_was_written_under_a_taken_id_stays():
    """The session has given the id to another note since: what is written over the file keeps both."""
    session = read_session(data(SESSION))
    first, second = json.loads(render_kept(session, data({**SESSION, "notes": [OTHER]})))["notes"]
    assert {**first, **NOTE} == first
    assert second == {**OTHER, "note_id": "note_002"}


def test_kind_of_a_note():
    (note,) = read_session(data({**SESSION, "notes": [{**NOTE, "kind": "security"}]})).notes
    assert note.kind is NoteKind.SECURITY


def test_edits_of_each_kind_are_read():
    edits: list[dict[str, Any]] = [
        {"edit": "add_agent", "agent": "cache", "added": ADDED, "instructions": "Do it"},
        {"edit": "remove_agent", "agent": "a"},
        {"edit": "set_needs", "agent": "a", "needs": []},
        {"edit": "set_inputs", "agent": "a", "inputs": [{"from": "b", "path": "x.md"}]},
        {"edit": "reinstruct", "agent": "a", "instructions": "Do it well"},
        {"edit": "set_evidence", "agent": "a", "evidence": [{"id": "e", "text": "t", "path": "p"}]},
        {"edit": "set_outputs", "agent": "a", "outputs": ["x.md"]},
        {"edit": "set_verifier", "agent": "a", "verifier": "v"},
        {"edit": "set_bounds", "agent": "a", "bounds": {"crashes": 1}},
    ]
    found = read_edits(data({"edits": edits}))
    assert [edit.kind for edit in found] == list(EditKind)
    assert found[0].added is not None
    assert (found[0].added.id, found[0].instructions) == ("cache", "Do it")
    assert found[8].bounds == (("crashes", 1),)
    judgement = read_judgement(data({**JUDGEMENT, "edits": edits}))
    assert read_judgement(render_judgement(judgement)).edits == found


# Archives ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("taken", "name"),
    [
        (0, "session_20250928_1430_create_user_table.json"),
        (1, "session_20250928_1430_create_user_table_2.json"),
        (2, "session_20250928_1430_create_user_table_3.json"),
    ],
)
def test_name_of_an_archived_session(taken, name):
    assert archive_name("create_user_table_1727539200", 1759069800, taken) == name


@pytest.mark.parametrize("task_id", ["../../etc/passwd", "", "a/b_1727539200", "x"])
def test_odd_task_id_names_no_other_place(task_id):
    assert archive_name(task_id, 1759069800) == "session_20250928_1430_unknown.json"


def test_log_and_index_grow_and_keep_what_stands_there():
    first = CleanupOperation(1, ArchivalOperation.STALE, "a", "from.json", "to.json", "ab", done=True)
    second = replace(first, operation=ArchivalOperation.ARCHIVE, done=False, reason="disk full")
    base = json_text(
        {"operations": [json.loads(render_cleanup_log((first,)))["operations"][0] | {"x": 1}], "y": 2}
    )
    log = render_cleanup_log((second,), base)
    assert read_cleanup_log(log) == (first, second)
    assert json.loads(log)["operations"][0]["x"] == 1
    assert json.loads(log)["y"] == 2
    session = ArchivedSession("a", TASK, 1, 2, "to.json", "ab", 3)
    index = render_archive_index((session,), render_archive_index((session,)))
    assert read_archive_index(index) == (session, session)
    assert render_archive_index((), index) == index
    with pytest.raises(BadFile):
        render_cleanup_log((first,), b'{"operations": 3}')


# Research ----------------------------------------------------------------------------------------------

RESEARCH = Research(
    "postgres", "migration", ("lock", "online: yes"), ("https://x.example/a",), 1000, "add_users", "Text."
)


def test_research_is_read_back():
    assert read_research(render_research(RESEARCH).encode(), "x.md") == RESEARCH
    assert research_name(RESEARCH).startswith("1000-")
    assert not is_old(RESEARCH, 1000 + OLD_AFTER)
    assert is_old(RESEARCH, 1001 + OLD_AFTER)


@pytest.mark.parametrize("lost", ["technology", "created", "keywords", "workflow"])
def test_research_without_a_field_is_refused(lost):
    lines = [line for line in render_research(RESEARCH).splitlines() if not line.startswith(f"{lost}:")]
    with pytest.raises(BadFile):
        read_research("\n".join(lines).encode(), "x.md")


@pytest.mark.parametrize("change", [("postgres", "../x"), ("1000", "now"), ("Text.", "")])
def test_research_with_an_odd_field_is_refused(change):
    with pytest.raises(BadFile):
        read_research(render_research(RESEARCH).replace(*change).encode(), "x.md")
