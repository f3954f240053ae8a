from __future__ import annotations

from typing import get_args

import pytest

from orchestrator.daemon.journal import codec
from orchestrator.model.facts import Fact, RunGone, WorkCommitted
from orchestrator.model.run import Exit
from orchestrator.pm.explain.changes import QUIET
from orchestrator.pm.explain.sentences import explain
from orchestrator.pm.state.changes import Change
from orchestrator.testing.local_zone import local_zone
from tests.unit.pm.story import Story


def lines_about(kind):
    """Return what is said of one bare change."""
    return [text.strip() for text in explain({"at": 0, "fact": {}, "changes": [{"kind": kind}]})[1:]]


def test_plan_is_explained_by_a_line_per_subtask():
    changes = [
        {"kind": "step_added", "step": {"id": "dev:a", "agent": "dev", "title": "Do a", "subtask": "a"}},
        {"kind": "step_added", "step": {"id": "test:a", "agent": "test", "title": "Do a", "judges": "dev:a"}},
    ]
    lines = explain({"at": 0, "fact": {"kind": "checked_in"}, "changes": changes})
    assert [text.strip() for text in lines[1:]] == ["new subtask a for dev: Do a"]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (Exit(code=7), "exited 7"),
        (Exit(signal=9), "was ended by signal 9"),
        (Exit(signal=9, out_of_memory=True), "was killed for memory"),
        (Exit(lost=True), "vanished, and how it ended is unknown"),
    ],
)
def test_four_ends_are_four_sentences(how, said):
    fact = codec.encoded_fact(RunGone(0.0, "n", "r-1", how))
    (first,) = explain({"at": 0, "fact": fact, "changes": []})
    assert first.endswith(f"run r-1 {said}")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (WorkCommitted(0.0, "n", "dev:a", 1, "c" * 40, 2), "is commit cccccccccc (2 files)"),
        (WorkCommitted(0.0, "n", "dev:a", 1, ""), "changed nothing"),
        (
            WorkCommitted(0.0, "n", "dev:a", 1, "c" * 40, 2, check_files=("'check.sh' (+1 -9)",)),
            "is commit cccccccccc (2 files); the check's command names what the task has changed: 'check.sh' (+1 -9)",
        ),
        (WorkCommitted(0.0, "n", "dev:a", 1, "", left="box:/repo"), "lies uncommitted in box:/repo"),
        (WorkCommitted(0.0, "n", "dev:a", 1, "", reason="no git"), "could not be committed: no git"),
    ],
)
def test_what_became_of_work_is_one_of_four_sentences(how, said):
    (first,) = explain({"at": 0, "fact": codec.encoded_fact(how), "changes": []})
    assert first.endswith(f"the work of dev:a {said}")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "passes it"),
        ({"missing": ["no log", "no test"]}, "misses no log; no test"),
        ({"judgement": {"decision": "ask"}}, "decides: ask"),
    ],
)
def test_verdict_on_an_agent_is_explained(more, said):
    change = {"kind": "judged", "verdict": {"agent": "a", "number": 2, "by": "judge"} | more}
    lines = explain({"at": 0, "fact": {"kind": "checked_in"}, "changes": [change]})
    assert lines[1].strip() == f"verdict 2 on a: judge {said}"


def test_every_kind_of_decision_is_explained():
    story = Story()
    changes = codec.encoded_changes(story.starts().changes)
    lines = explain({"at": story.at, "fact": {"kind": "task_started"}, "changes": changes})
    assert any("explore is working" in text for text in lines)
    kinds = {kind.__dataclass_fields__["kind"].default for kind in get_args(Change)}
    assert kinds >= QUIET
    assert [kind for kind in kinds - QUIET if lines_about(kind) == [kind]] == []


def test_pause_is_explained_with_its_end_and_day():
    at = 1_764_254_100.0
    moved = {"kind": "step_moved", "step": "dev:a", "to": "pending", "why": "limited: resets 3pm"}
    noticed = {"kind": "noticed", "text": "2025-11-27T14:35:00Z dev runs again"}
    old = {"kind": "noticed", "text": "14:35 dev runs again"}
    changes = [moved | {"not_before": at + 86_400}, moved | {"not_before": at + 1}, noticed, old]
    with local_zone("UTC"):
        lines = explain({"at": at, "fact": {"kind": "checked_in"}, "changes": changes})
    assert [text.strip() for text in lines[1:]] == [
        "dev:a is pending: limited: resets 3pm; it is tried again from Fri 28 Nov 14:35 on",
        "dev:a is pending: limited: resets 3pm",
        "dev runs again",
        "14:35 dev runs again",
    ]


def test_every_fact_has_a_sentence():
    kinds = {kind.__dataclass_fields__["kind"].default for kind in get_args(Fact)}
    bare = [kind for kind in kinds if explain({"at": 0, "fact": {"kind": kind}})[0].endswith(f" {kind}")]
    assert bare == []


def test_a_snapshot_says_nothing_and_a_strange_kind_is_named():
    assert explain({"n": 0, "snapshot": {}}) == []
    lines = explain({"at": 0, "fact": {"kind": "landed_on_the_moon"}, "changes": [{"kind": "tide_turned"}]})
    assert lines[0].endswith("landed_on_the_moon")
    assert lines[1].strip() == "tide_turned"


def test_a_start_that_begins_nothing_is_only_asked_for():
    """ "was started" was said of tasks that ran already, or were complete."""
    fact = {"kind": "task_started", "name": "tidy", "project": "/shop"}
    first, again = (
        explain({"at": 0, "fact": fact, "changes": changes})[0][9:]
        for changes in ([{"kind": "task_begun"}], [{"kind": "request_acknowledged"}])
    )
    assert (first, again) == ("tidy was started in /shop", "the user asked to start tidy")


@pytest.mark.parametrize(("why", "end"), [("", "workflow"), ("it is slow", "workflow: it is slow")])
def test_an_edit_without_a_reason_has_none(why, end):
    """It was "None"."""
    (line,) = explain({"at": 0, "fact": {"kind": "adapt_asked", "why": why}, "changes": []})
    assert line.endswith(f"the user asked to change the plan of the {end}")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"kind": "task_moved", "to": "partial", "why": "all but one"},
            "the task is complete in part: all but one",
        ),
        ({"kind": "step_moved", "step": "dev:a", "to": "set_aside"}, "dev:a is set aside"),
        ({"kind": "task_moved", "to": "stopped"}, "the task is stopped"),
    ],
)
def test_states_are_in_the_words_of_other_verbs(change, said):
    assert explain({"at": 0, "fact": {"kind": "checked_in"}, "changes": [change]})[1].strip() == said
