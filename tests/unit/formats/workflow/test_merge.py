"""Three-way merge: examples, and what holds for any documents."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.formats.workflow.merge import DAEMON, Version, merge_status

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
AUTHORS = st.sampled_from(["a", "b", DAEMON, ""])


def _leaves(document: object, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """Return the fields of a document by their path."""
    if isinstance(document, dict) and document:
        return {
            way: each for key, value in document.items() for way, each in _leaves(value, (*path, key)).items()
        }
    return {path: document}


@settings(deadline=None)
@given(st.data())
def test_merge_with_an_unchanged_side_is_the_other_side(data):
    base, changed = data.draw(STATUSES), data.draw(STATUSES)
    for one, other in ((base, changed), (changed, base)):
        merged = merge_status(base, Version(one, "a", 1), Version(other, "b", 2))
        assert _leaves(merged.document) == _leaves(changed)
        assert merged.losses == ()


@settings(deadline=None)
@given(st.data(), AUTHORS, AUTHORS)
def test_merge_is_idempotent(data, author, another):
    """Merging the result with either side again changes nothing, and neither does merging a side with itself."""
    base, one, other = (data.draw(STATUSES) for _ in range(3))
    merged = merge_status(base, Version(one, author, 1), Version(other, another, 2))
    assert _leaves(
        merge_status(one, Version(one, author), Version(merged.document, another)).document
    ) == _leaves(merged.document)
    same = merge_status(base, Version(one, author, 1), Version(one, another, 2))
    assert _leaves(same.document) == _leaves(one)
    assert same.losses == ()


@settings(deadline=None)
@given(st.data(), AUTHORS, AUTHORS)
def test_order_of_the_sides_does_not_matter(data, author, another):
    """Where there is no conflict; and where there is one, as long as author or time tell the sides apart."""
    base, one, other = (data.draw(STATUSES) for _ in range(3))
    first, second = Version(one, author, 1), Version(other, another, 2)
    forth, back = merge_status(base, first, second), merge_status(base, second, first)
    assert forth.document == back.document
    assert list(forth.document) == list(back.document)
    assert forth.losses == back.losses


@settings(deadline=None)
@given(st.data(), AUTHORS, AUTHORS)
def test_no_change_of_a_field_is_lost_without_a_report(data, author, another):
    """Each field that a side changed has its value, or that of the other side and the loss is reported."""
    base, one, other = (data.draw(STATUSES) for _ in range(3))
    merged = merge_status(base, Version(one, author, 1), Version(other, another, 2))
    was, made = _leaves(base), _leaves(merged.document)
    lost = {loss.path for loss in merged.losses}
    for side in (one, other):
        for path, value in _leaves(side).items():
            if was.get(path, merged) == value or any(path[: len(each)] == each for each in lost):
                continue
            assert made.get(path) == value or value == {}, path
