"""opencode: what is laid down for a run, what its plugin tells, what its screens show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Failure, Reply, Say
from orchestrator.model.permission import Act
from orchestrator.model.tool_request import ToolRequest
from orchestrator.model.usage import Usage
from orchestrator.model.usage_limit import Reset
from orchestrator.runtimes.opencode import OVERFLOWS, PLUGIN, RUN, TRIES, Opencode
from orchestrator.runtimes.screens import shown_on
from tests.unit.runtimes.captured import WORK
from tests.unit.runtimes.spawns import SPAWN, a_spawn

FIXTURES = Path(__file__).parents[2] / "fixtures/clis/opencode"
SESSION = "ses_e07092ed0ffepoGNovfVJkiON9"


def payload(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FIXTURES / f"told_{name}.json").read_text("utf-8"))
    return read


def test_order_is_an_argument_and_resume_uses_the_plugin():
    new = Opencode().launching(SPAWN)
    assert new.argv == ("opencode", "--agent", "build", f"--prompt={SPAWN.prompt}")
    again = Opencode().launching(a_spawn(resumes=SESSION))
    assert again.argv == ("opencode", "--agent", "build", "--session", SESSION)
    assert json.loads(new.files[RUN])["session"] == ""
    laid = json.loads(again.files[RUN])
    assert (laid["session"], laid["order"]) == (SESSION, str(SPAWN.order))
    assert set(new.files) == {PLUGIN, RUN}


def test_a_model_is_named_only_with_its_provider():
    assert "--model" not in Opencode().launching(a_spawn(agent=Agent("dev", model="sonnet"))).argv
    argv = Opencode().launching(a_spawn(agent=Agent("dev", model="openai/gpt-5"))).argv
    assert argv[argv.index("--model") + 1] == "openai/gpt-5"


def test_project_settings_are_ignored_but_for_instructions():
    environment = Opencode().launching(SPAWN).environment
    assert environment["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"
    content = json.loads(environment["OPENCODE_CONFIG_CONTENT"])
    assert content["instructions"] == ["/project/AGENTS.md"]
    assert content["plugin"] == [f"file://{SPAWN.folder}/{PLUGIN}"]


def permission(**agent: Any) -> dict[str, Any]:
    launching = Opencode().launching(a_spawn(agent=Agent("dev", **agent)))
    read: dict[str, Any] = json.loads(launching.environment["OPENCODE_PERMISSION"])
    assert json.loads(launching.files[RUN])["permission"] == read
    return read


def test_all_that_changes_or_fetches_is_asked_about():
    rules = permission()
    assert rules["*"] == "ask"
    assert not {"edit", "bash", "webfetch", "websearch"} & rules.keys()
    assert rules["question"] == "deny"
    assert rules["external_directory"] == {
        "*": "ask",
        "/project/tasks/t/handoffs/*": "allow",
        "/project/tasks/t/artifacts/code/*": "allow",
    }


def test_tools_that_a_definition_leaves_out_are_denied():
    rules = permission(tools=("Read", "Grep", "Bash"))
    assert {name for name, rule in rules.items() if rule == "deny"} >= {"edit", "webfetch", "task", "glob"}
    assert "bash" not in rules
    assert rules["grep"] == "allow"


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("started", Event(EventKind.STARTED, SESSION)),
        ("prompt", Event(EventKind.TAKEN, SESSION, text="# Agent: dev\n!ls;")),
        ("idle", Event(EventKind.ENDED, SESSION, text="I made it.")),
    ],
)
def test_plugin_payload_becomes_an_event(name, event):
    assert Opencode().event(payload(name)) == event


@pytest.mark.parametrize(
    ("name", "wish"),
    [
        ("bash", ToolRequest("bash", Act.RUN, command="cat /etc/hostname > made.txt", cwd=WORK)),
        ("edit", ToolRequest("edit", Act.WRITE, (f"{WORK}/made.txt",), cwd=WORK)),
        ("external_directory", ToolRequest("external_directory", Act.READ, ("/etc/hostname",), cwd=WORK)),
        ("webfetch", ToolRequest("webfetch", Act.FETCH, command="http://127.0.0.1:8000/x", cwd=WORK)),
    ],
)
def test_plugin_permission_requests_are_read(name, wish):
    assert Opencode().event(payload(f"asked_{name}")) == Event(EventKind.ASKED, SESSION, tool_request=wish)


def test_every_file_of_a_patch_is_named():
    """Their names in `filepath` are joined by commas; the patterns are not."""
    asked = payload("asked_edit") | {
        "patterns": ["a.py", "../b.py"],
        "metadata": {"filepath": "a.py, ../b.py"},
    }
    event = Opencode().event(asked)
    assert event
    assert event.tool_request
    assert event.tool_request.paths == (f"{WORK}/a.py", f"{WORK}/../b.py")


@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("rate_limit_hour_retry", Failure.LIMIT),
        ("credit_gone_retry", Failure.CREDIT),
        ("unauthorized_idle", Failure.LOGIN),
    ],
)
def test_a_failure_by_its_kind(name, failure):
    event = Opencode().event(payload(name))
    assert event
    assert (event.kind, event.failure) == (EventKind.FAILED, failure)
    assert event.text
    assert event.reset == (Reset((1795181900.444,), by_clock=False) if failure is Failure.LIMIT else None)


def test_retries_are_counted():
    """opencode itself tries for ever."""
    retry = payload("overloaded_retry")
    event = Opencode().event(retry | {"attempt": TRIES - 1})
    assert event
    assert event.kind is EventKind.RETRYING
    last = Opencode().event(retry | {"attempt": TRIES})
    assert last
    assert (last.kind, last.failure) == (EventKind.FAILED, Failure.OVERLOAD)


def test_a_conversation_that_stays_too_long_is_given_up():
    """opencode makes it shorter, and tries for ever."""
    overflow = payload("too_long_overflow")
    event = Opencode().event(overflow)
    assert event
    assert event.kind is EventKind.RETRYING
    last = Opencode().event(overflow | {"count": OVERFLOWS})
    assert last
    assert (last.kind, last.failure) == (EventKind.FAILED, Failure.CONTEXT)


@pytest.mark.parametrize(
    ("error", "kind", "failure"),
    [
        ({"name": "MessageAbortedError", "data": {"message": "Aborted"}}, EventKind.ABORTED, None),
        ({"name": "ProviderAuthError", "data": {"message": "no key"}}, EventKind.FAILED, Failure.LOGIN),
        ({"name": "ContextOverflowError", "data": {"message": "long"}}, EventKind.FAILED, Failure.CONTEXT),
        (
            {"name": "APIError", "data": {"message": "?", "statusCode": 503}},
            EventKind.FAILED,
            Failure.OVERLOAD,
        ),
        ({"name": "APIError", "data": {"message": "?", "statusCode": 429}}, EventKind.FAILED, Failure.LIMIT),
        ({"name": "UnknownError", "data": {"message": "odd"}}, EventKind.FAILED, Failure.OTHER),
    ],
)
def test_last_message_with_an_error_is_a_failed_turn(error, kind, failure):
    event = Opencode().event(payload("idle") | {"error": error})
    assert event
    assert (event.kind, event.failure) == (kind, failure)


@pytest.mark.parametrize(
    "odd", [{}, {"type": 3}, {"type": "asked", "patterns": [1, None], "metadata": 7}, {"type": "new"}]
)
def test_odd_objects_raise_nothing(odd):
    event = Opencode().event(odd)
    assert event is None or event.tool_request == ToolRequest("", Act.OTHER)


def test_an_answer_is_what_the_plugin_reads():
    assert json.loads(Opencode().answer(Reply(Say.DENY, "No."))) == {"say": "deny", "reason": "No."}
    assert json.loads(Opencode().answer(Reply(Say.GO_ON, "Write it.")))["say"] == "go_on"
    assert Opencode().answer(Reply(Say.PASS)) == ""


SHOWN = {
    "busy": "at work",
    "cut": "at its prompt",
    "failed_credit_gone": "trying again",
    "failed_overloaded": "trying again",
    "failed_rate_limit_hour": "trying again",
    "failed_rate_limit_short": "at its prompt",
    "failed_server_error": "trying again",
    "failed_too_long": "at work",
    "failed_unauthorized": "at its prompt",
    "first_run": "",
    "interrupt_asked": "at work",
    "interrupted": "at its prompt",
    "permission": "permission for a tool",
    "queued": "at work",
    "resting": "at its prompt",
    "resumed": "at its prompt",
    "streaming": "at work",
}


def test_every_captured_screen_is_in_the_table():
    assert {path.stem for path in FIXTURES.glob("*.txt")} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_what_a_screen_shows(name):
    found = shown_on((FIXTURES / f"{name}.txt").read_text("utf-8"), Opencode().screens)
    assert (found[0].name if found else "") == SHOWN[name]


def test_what_its_run_used_comes_with_the_end_of_a_turn():
    used = {"input": 900, "output": 40, "cached": 100, "cost": 0.25, "context": 500}
    event = Opencode().event(payload("idle") | {"usage": used})
    assert event
    assert event.usage == Usage(900, 40, 100, 0.25, 500)


@pytest.mark.parametrize("usage", [None, [], "x", {}, {"input": -1}, {"input": True}, {"cost": 1.0}])
def test_invalid_usage_is_ignored(usage):
    event = Opencode().event(payload("idle") | {"usage": usage})
    assert event
    assert event.usage is None
