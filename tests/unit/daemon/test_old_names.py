"""Journals written before their terms were renamed: each old name is read as today's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.journal import newest_first
from orchestrator.daemon.journal import codec
from orchestrator.daemon.journal.old_names import renewed
from orchestrator.daemon.journal.store import sealed, unsealed
from orchestrator.model import facts as f
from orchestrator.model.actions import Notify
from orchestrator.model.permission import Act, PermissionDecision, PermissionRule
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending
from orchestrator.model.tool_request import Judgement
from orchestrator.pm.state.changes import QuestionAsked, RequestAcknowledged, RuleGiven
from orchestrator.pm.state.consultation_changes import BriefingExtended, ConsultationBegun
from orchestrator.pm.state.run_changes import RunEnding, RunOpened, RunSignalled, RunToolRequested

RUN = {
    "id": "r1", "order": "o", "instance": "dev", "agent": "dev", "step": "dev:a", "attempt": 1,
    "purpose": "work", "opened_at": 1.0,
    "heard": ["e1", "e2"], "told_at": 7.0, "wishes": [3, 4], "news_at": 8.0, "ending": "overtaken",
}  # fmt: skip
QUESTION = {
    "id": "q1", "step": "dev:a", "text": "May it?", "options": ["yes"], "asked_at": 1.0, "kind": "unended",
    "leave": {"ruling": "allow", "act": "run", "pattern": "make", "source": "task.md"},
}  # fmt: skip


def read(part: str, written: dict[str, Any]) -> Any:
    """Return a part of a journal line as today's code reads it."""
    line: dict[str, Any] = {"n": 1, "fact": {}, "changes": [], "actions": []}
    line[part] = written if part == "fact" else [written]
    found = unsealed(sealed(line).encode())[part]
    return found if part == "fact" else found[0]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"kind": "counsel_begun"}, ConsultationBegun()),
        ({"kind": "news_noted", "lines": ["a"]}, BriefingExtended(("a",))),
        ({"kind": "request_heard", "request": "1.json"}, RequestAcknowledged("1.json")),
        ({"kind": "run_wished", "run": "r1", "wish": 5}, RunToolRequested("r1", 5)),
    ],
)
def test_changes_under_old_names(written, expected) -> None:
    assert codec.decoded_changes([read("changes", written)]) == (expected,)


def test_what_a_program_signalled() -> None:
    written = {
        "kind": "run_told",
        "run": "r1",
        "name": "e",
        "turn": "busy",
        "evidence": "it said so",
        "at": 1.0,
    }
    (change,) = codec.decoded_changes([read("changes", written)])
    assert isinstance(change, RunSignalled)


def test_a_run_and_a_question_keep_their_fields() -> None:
    (opened,) = codec.decoded_changes([read("changes", {"kind": "run_opened", "run": RUN})])
    assert isinstance(opened, RunOpened)
    assert (opened.run.acknowledged, opened.run.event_at, opened.run.tool_requests) == (
        ("e1", "e2"),
        7.0,
        (3, 4),
    )
    assert (opened.run.screen_changed_at, opened.run.ending) == (8.0, Ending.SUPERSEDED)
    (asked,) = codec.decoded_changes([read("changes", {"kind": "question_asked", "question": QUESTION})])
    assert isinstance(asked, QuestionAsked)
    assert asked.question.kind is QuestionKind.TERMINATION
    assert asked.question.permission == PermissionRule(PermissionDecision.ALLOW, Act.RUN, "make", "task.md")


def test_why_a_run_is_ended() -> None:
    written = {"kind": "run_ending", "run": "r1", "ending": "overtaken", "at": 1.0}
    (change,) = codec.decoded_changes([read("changes", written)])
    assert isinstance(change, RunEnding)
    assert change.ending is Ending.SUPERSEDED


def test_decisions_of_permission_rules() -> None:
    """They lie deep in task.md's part of a fact, in a judgement and in a rule of the user's."""
    rule = {"ruling": "deny", "act": "fetch", "pattern": "", "source": "task.md"}
    expected = PermissionRule(PermissionDecision.DENY, Act.FETCH, "", "task.md")
    (given,) = codec.decoded_changes([read("changes", {"kind": "rule_given", "rule": rule})])
    assert given == RuleGiven(expected)
    said = {"rules": [rule], "otherwise": "ask"}
    config = {"permissions": said, "agents": {"ruling": {"permissions": said}}}
    brief = {"title": "t", "goal": "g", "criteria": [], "config": config}
    changed = codec.decoded_fact(read("fact", {"kind": "brief_changed", "at": 1.0, "brief": brief}))
    assert isinstance(changed, f.BriefChanged)
    assert changed.brief.config.permissions.rules == (expected,)
    assert changed.brief.config.agents["ruling"].permissions.rules == (expected,)
    landed = {
        "kind": "event_landed", "at": 1.0, "nonce": "n", "run": "r1", "name": "e", "event": {"kind": "asked"},
        "judgement": {"ruling": "ask", "why": "no rule"},
    }  # fmt: skip
    fact = codec.decoded_fact(read("fact", landed))
    assert isinstance(fact, f.EventLanded)
    assert fact.judgement == Judgement(PermissionDecision.ASK, "no rule")
    state = codec.decoded_state(
        unsealed(sealed({"n": 3, "snapshot": {"rules": [rule]}}).encode())["snapshot"]
    )
    assert state.rules == (expected,)


def test_facts_and_actions_under_old_names() -> None:
    assert codec.decoded_fact(read("fact", {"kind": "told", "at": 1.0, "action": "n1"})) == f.Notified(
        1.0, "n1"
    )
    wanted = {"kind": "asked", "wish": {"tool": "Bash", "act": "run", "command": "make"}}
    written = {"kind": "event_landed", "at": 1.0, "nonce": "n", "run": "r1", "name": "e", "event": wanted}
    landed = codec.decoded_fact(read("fact", written))
    assert isinstance(landed, f.EventLanded)
    assert landed.event.tool_request is not None
    assert landed.event.tool_request.command == "make"
    message = {"kind": "tell", "id": "n1", "rule": "question", "title": "t", "text": "x", "at": 1.0}
    (action,) = codec.decoded_actions([read("actions", message)])
    assert isinstance(action, Notify)


def test_a_snapshot_under_old_names() -> None:
    written = {
        "runs": {"r1": RUN},
        "questions": {"q1": QUESTION},
        "counsel": {"number": 2, "news": ["new"], "told": ["old"]},
        "outbox": {
            "n1": {"kind": "tell", "id": "n1", "rule": "question", "title": "t", "text": "x", "at": 1.0}
        },
    }
    read_again = unsealed(sealed({"n": 3, "snapshot": written}).encode())["snapshot"]
    state = codec.decoded_state(read_again)
    assert state.runs["r1"].acknowledged == ("e1", "e2")
    assert state.questions["q1"].permission is not None
    assert (state.consultation.pending, state.consultation.briefing) == (("new",), ("old",))
    assert isinstance(state.outbox["n1"], Notify)


def test_what_users_named_stays_as_it_is() -> None:
    """An agent may be called `tell`, and a step's title may be an old name."""
    line = {"n": 1, "fact": {"kind": "answered", "text": "told", "at": 1.0}, "changes": [], "actions": []}
    assert renewed(json.dumps(line).encode(), line) == line


def test_readers_of_a_journal_see_todays_names(tmp_path: Path) -> None:
    line = {"n": 1, "fact": {"kind": "told", "at": 1.0, "action": "n1"}, "changes": [], "actions": []}
    (tmp_path / "0000000001.jsonl").write_text(sealed(line) + "\n")
    assert [each["fact"]["kind"] for each in newest_first(tmp_path)] == ["notified"]
