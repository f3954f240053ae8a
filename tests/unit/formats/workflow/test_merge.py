"""Three-way merge: examples, and what holds for any documents."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.formats.workflow.merge import DAEMON, Version, merge_session, merge_status

AGENT = "database_agent"
STATUS: dict[str, Any] = {
    "task_id": "add_users",
    "status": "in_progress",
    "session_start": 1,
    "agents": {
        "database_agent": {"status": "working", "dependencies": [], "last_update": 1},
        "api_agent": {"status": "pending", "dependencies": ["database_agent"], "last_update": None},
    },
    "verification": {},
    "overall_completion_drive_gate": "clear",
}


def _note(name: str, **more: Any) -> dict[str, Any]:
    return {"note_id": name, "timestamp": 1, "description": "d", "context": "c", "status": "open", **more}


SESSION: dict[str, Any] = {
    "task_id": "user_table_1727539200",
    "session_start": 1,
    "notes": [_note("note_001"), _note("note_002", status="escalated", escalation_reason="why")],
}


def _with(document: dict[str, Any], *path: Any, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    here = changed
    for part in path[:-1]:
        here = here[part]
    here[path[-1]] = value
    return changed


# Examples ----------------------------------------------------------------------------------------------


def test_both_agents_changes_stand():
    one = Version(_with(STATUS, "agents", "database_agent", "status", value="blocked"), AGENT, 5)
    other = Version(_with(STATUS, "agents", "api_agent", "status", value="working"), DAEMON, 4)
    merged = merge_status(STATUS, one, other)
    assert merged.losses == ()
    assert [each["status"] for each in merged.document["agents"].values()] == ["blocked", "working"]


def test_owner_of_a_status_wins_over_the_later():
    one = Version(_with(STATUS, "agents", AGENT, "status", value="blocked"), AGENT, 1)
    other = Version(_with(STATUS, "agents", AGENT, "status", value="pending"), DAEMON, 9)
    merged = merge_status(STATUS, one, other)
    assert merged.document["agents"][AGENT]["status"] == "blocked"
    (loss,) = merged.losses
    assert (loss.path, loss.author, loss.value, loss.kept) == (
        ("agents", AGENT, "status"),
        DAEMON,
        "pending",
        "blocked",
    )


def test_daemon_wins_what_is_derived():
    one = Version({**STATUS, "overall_completion_drive_gate": "blocked"}, DAEMON, 1)
    other = Version({**STATUS, "overall_completion_drive_gate": "open"}, AGENT, 9)
    assert merge_status(STATUS, one, other).document["overall_completion_drive_gate"] == "blocked"


def test_later_wins_a_field_of_nobody():
    one, other = Version({**STATUS, "mood": "good"}, "a", 1), Version({**STATUS, "mood": "bad"}, "b", 2)
    merged = merge_status(STATUS, one, other)
    assert merged.document["mood"] == "bad"
    assert [loss.value for loss in merged.losses] == ["good"]


def test_answer_and_new_note_at_the_same_time():
    answered = copy.deepcopy(SESSION)
    answered["notes"][1] |= {"status": "resolved", "resolution": "Yes", "resolved_by": "user"}
    noted = _with(SESSION, "notes", value=[*SESSION["notes"], _note("note_003")])
    merged = merge_session(SESSION, Version(answered, DAEMON, 1), Version(noted, AGENT, 2), AGENT)
    assert [each["note_id"] for each in merged.document["notes"]] == ["note_001", "note_002", "note_003"]
    assert merged.document["notes"][1]["resolution"] == "Yes"
    assert merged.losses == ()


def test_daemon_wins_the_answer_of_an_escalated_note():
    answered, taken_back = copy.deepcopy(SESSION), copy.deepcopy(SESSION)
    answered["notes"][1]["status"] = "resolved"
    taken_back["notes"][1]["status"] = "open"
    merged = merge_session(SESSION, Version(answered, DAEMON, 1), Version(taken_back, AGENT, 2), AGENT)
    assert merged.document["notes"][1]["status"] == "resolved"
    assert len(merged.losses) == 1


def test_second_new_note_of_one_id_gets_the_next_number():
    one = _with(SESSION, "notes", value=[*SESSION["notes"], _note("note_003", description="mine")])
    other = _with(
        SESSION,
        "notes",
        value=[*SESSION["notes"], _note("note_003", description="theirs"), _note("note_004")],
    )
    merged = merge_session(SESSION, Version(one, AGENT, 1), Version(other, "", 2), AGENT)
    assert [(each["note_id"], each["description"]) for each in merged.document["notes"][2:]] == [
        ("note_003", "mine"),
        ("note_004", "d"),
        ("note_005", "theirs"),
    ]
    assert merged.renumbered == (("note_003", "note_005"),)


def test_true_is_not_one():
    one = Version({**STATUS, "extra": 1}, DAEMON, 1)
    other = Version({**STATUS, "extra": True}, AGENT, 2)
    assert len(merge_status(STATUS, one, other).losses) == 1


# What holds for any documents ----------------------------------------------------------------------------

VALUES = st.one_of(st.none(), st.integers(0, 3), st.sampled_from(["open", "resolved", "x"]))
FIELDS = st.dictionaries(st.sampled_from(["status", "last_update", "extra", "more"]), VALUES, max_size=4)
STATUSES = st.fixed_dictionaries(
    {"agents": st.dictionaries(st.sampled_from(["a", "b", "c"]), FIELDS, max_size=3)},
    optional={"status": VALUES, "extra": VALUES, "overall_completion_drive_gate": VALUES},
)
NOTES = st.dictionaries(st.sampled_from(["note_001", "note_002", "note_003", "odd"]), FIELDS, max_size=4)
SESSIONS = st.builds(
    lambda notes, more: {**more, "notes": [{"note_id": name, **note} for name, note in notes.items()]},
    NOTES,
    st.fixed_dictionaries({}, optional={"extra": VALUES}),
)
AUTHORS = st.sampled_from(["a", "b", DAEMON, ""])


def _leaves(document: object, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """Return the fields of a document by their path; notes by their id."""
    if isinstance(document, list):
        document = {note["note_id"]: note for note in document}
    if isinstance(document, dict) and document:
        return {
            way: each for key, value in document.items() for way, each in _leaves(value, (*path, key)).items()
        }
    return {path: document}


def _documents(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    return STATUSES if kind == "status" else SESSIONS


def _merge(kind: str, base: dict[str, Any], one: Version, other: Version) -> Any:
    return merge_status(base, one, other) if kind == "status" else merge_session(base, one, other, "a")


KINDS = st.sampled_from(["status", "session"])


@settings(deadline=None)
@given(st.data(), KINDS)
def test_merge_with_an_unchanged_side_is_the_other_side(data, kind):
    base, changed = data.draw(_documents(kind)), data.draw(_documents(kind))
    for one, other in ((base, changed), (changed, base)):
        merged = _merge(kind, base, Version(one, "a", 1), Version(other, "b", 2))
        assert _leaves(merged.document) == _leaves(changed)
        assert merged.losses == ()


@settings(deadline=None)
@given(st.data(), KINDS, AUTHORS, AUTHORS)
def test_merge_is_idempotent(data, kind, author, another):
    """Merging the result with either side again changes nothing, and neither does merging a side with itself."""
    base, one, other = (data.draw(_documents(kind)) for _ in range(3))
    merged = _merge(kind, base, Version(one, author, 1), Version(other, another, 2))
    assert _leaves(
        _merge(kind, one, Version(one, author), Version(merged.document, another)).document
    ) == _leaves(merged.document)
    same = _merge(kind, base, Version(one, author, 1), Version(one, another, 2))
    assert _leaves(same.document) == _leaves(one)
    assert same.losses == ()


@settings(deadline=None)
@given(st.data(), KINDS, AUTHORS, AUTHORS)
def test_order_of_the_sides_does_not_matter(data, kind, author, another):
    """Where there is no conflict; and where there is one, as long as author or time tell the sides apart."""
    base, one, other = (data.draw(_documents(kind)) for _ in range(3))
    first, second = Version(one, author, 1), Version(other, another, 2)
    forth, back = _merge(kind, base, first, second), _merge(kind, base, second, first)
    assert forth.document == back.document
    assert list(forth.document) == list(back.document)
    assert forth.losses == back.losses


@settings(deadline=None)
@given(st.data(), KINDS, AUTHORS, AUTHORS)
def test_no_change_of_a_field_is_lost_without_a_report(data, kind, author, another):
    """Each field that a side changed has its value, or that of the other side and the loss is reported."""
    base, one, other = (data.draw(_documents(kind)) for _ in range(3))
    merged = _merge(kind, base, Version(one, author, 1), Version(other, another, 2))
    was, made = _leaves(base), _leaves(merged.document)
    renamed = dict(merged.renumbered)
    lost = {loss.path for loss in merged.losses}
    for side in (one, other):
        for path, value in _leaves(side).items():
            if was.get(path, merged) == value or any(path[: len(each)] == each for each in lost):
                continue
            moved = tuple(renamed.get(part, part) for part in path)
            new = renamed.get(value, value) if path[-1:] == ("note_id",) else value
            assert made.get(path) == value or made.get(moved) == new or value == {}, path
