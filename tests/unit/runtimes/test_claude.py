"""Claude Code: what is laid down for a run, what its hooks mean, what they are answered."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model.agents import Agent
from orchestrator.model.event import EventKind, Failure, Reply, Say
from orchestrator.model.hands import Hands
from orchestrator.model.permission import Act
from orchestrator.model.tool_request import ToolRequest
from orchestrator.runtimes.claude import KEPT_KEY, KEY, SETTINGS, Claude
from orchestrator.runtimes.hooks import CAUTION, DENIALS
from tests.unit.runtimes.captured import CAPTURED, WORK, captured
from tests.unit.runtimes.spawns import SPAWN, a_spawn

CLAUDE = Claude()
SESSION = "11111111-2222-4333-8444-555555555555"
VERSIONS = ("claude", "claude-2.1.197")
MEANT: dict[str, tuple[EventKind, Failure | None] | None] = {
    "Notification_idle_prompt": None,
    "Notification_permission_prompt": (EventKind.WAITING, None),
    "PermissionRequest": (EventKind.ASKED, None),
    "PostToolUse": None,
    "PreToolUse": (EventKind.ASKED, None),
    "SessionEnd": None,
    "SessionStart": (EventKind.STARTED, None),
    "SessionStart_resume": (EventKind.STARTED, None),
    "Stop": (EventKind.ENDED, None),
    "StopFailure_credit_gone": (EventKind.FAILED, Failure.CREDIT),
    "StopFailure_overloaded": (EventKind.FAILED, Failure.OVERLOAD),
    "StopFailure_rate_limit_hour": (EventKind.FAILED, Failure.LIMIT),
    "StopFailure_rate_limit_short": (EventKind.FAILED, Failure.LIMIT),
    "StopFailure_used_up": (EventKind.FAILED, Failure.LIMIT),
    "StopFailure_server_error": (EventKind.FAILED, Failure.OVERLOAD),
    "StopFailure_too_long": (EventKind.FAILED, Failure.CONTEXT),
    "StopFailure_unauthorized": (EventKind.FAILED, Failure.LOGIN),
    "Stop_after_block": (EventKind.ENDED, None),
    "UserPromptSubmit": (EventKind.TAKEN, None),
    "UserPromptSubmit_typed": (EventKind.TAKEN, None),
}
EACH = [(cli, path.stem) for cli in VERSIONS for path in sorted((CAPTURED / cli).glob("[A-Z]*.json"))]


@pytest.mark.parametrize(("cli", "name"), EACH)
def test_what_each_captured_hook_means(cli: str, name: str) -> None:
    event = CLAUDE.event(captured(cli, name))
    assert (None if event is None else (event.kind, event.failure)) == MEANT[name]
    assert event is None or (event.session, event.transcript.startswith("/")) == (SESSION, True)


@pytest.mark.parametrize("cli", VERSIONS)
def test_receipt_has_the_prompt_and_end_the_last_message(cli: str) -> None:
    taken, ended = (CLAUDE.event(captured(cli, name)) for name in ("UserPromptSubmit", "Stop"))
    assert taken is not None
    assert taken.text == captured(cli, "UserPromptSubmit")["prompt"]
    assert ended is not None
    assert (ended.text, ended.background) == ("I made it.", 0)


@pytest.mark.parametrize("cli", VERSIONS)
def test_tool_request_describes_what_the_tool_would_do(cli: str) -> None:
    event = CLAUDE.event(captured(cli, "PermissionRequest"))
    assert event is not None
    assert event.tool_request == ToolRequest(
        "Bash", Act.RUN, command="python3 -c 'print(1)' > asked.txt", cwd=WORK
    )


@given(
    st.dictionaries(st.text(), st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=5))
)
def test_no_json_is_too_strange(reported: dict[str, Any]) -> None:
    kinds = {
        "Stop": EventKind.ENDED,
        "StopFailure": EventKind.FAILED,
        "PermissionRequest": EventKind.ASKED,
        "UserPromptSubmit": EventKind.TAKEN,
        "Notification": None,
        "SessionStart": EventKind.STARTED,
    }
    for name, kind in kinds.items():
        event = CLAUDE.event(reported | {"hook_event_name": name})
        assert (event and event.kind) is kind
    assert CLAUDE.event(reported) is None


def test_answers_are_what_its_hooks_print() -> None:
    def said(reply: Reply) -> Any:
        return json.loads(CLAUDE.answer(reply))

    allowed = said(Reply(Say.ALLOW))["hookSpecificOutput"]
    assert allowed == {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    denied = said(Reply(Say.DENY, "Not here."))["hookSpecificOutput"]["decision"]
    assert denied == {"behavior": "deny", "message": "Not here."}
    assert said(Reply(Say.GO_ON, "Write it.")) == {"decision": "block", "reason": "Write it."}
    assert CLAUDE.answer(Reply(Say.PASS)) == ""


def test_order_is_the_last_argument_and_sessions_resume() -> None:
    new, again = CLAUDE.launching(SPAWN), CLAUDE.launching(a_spawn(resumes="s-1"))
    assert new.argv[-3:] == ("--session-id", SPAWN.session, SPAWN.prompt)
    assert again.argv[-3:] == ("--resume", "s-1", SPAWN.prompt)
    # What follows takes as many folders as come: another option must end that, never the order.
    granted = tuple(map(str, SPAWN.granted))
    assert new.argv[: 2 + len(granted) + 1] == ("claude", "--add-dir", *granted, "--settings")


def test_with_file_operations_its_tools_only_read() -> None:
    agent = Agent("dev", tools=("Bash", "Write", "WebSearch"), hands=Hands.OPERATIONS)
    argv = CLAUDE.launching(a_spawn(agent=agent)).argv
    assert argv[argv.index("--tools") + 1] == "Read,Glob,Grep"


def test_a_key_reaches_its_helper_only_and_each_hook_is_relayed() -> None:
    launching = CLAUDE.launching(
        a_spawn(environ={KEY: "k-1"}, agent=Agent("dev", tools=("Read",), model="m"))
    )
    laid = json.loads(launching.files[SETTINGS])
    assert (launching.environment[KEY], launching.environment[KEPT_KEY]) == ("", "k-1")
    assert laid["apiKeyHelper"] == f"printenv {KEPT_KEY}"
    assert "k-1" not in launching.files[SETTINGS].decode()
    commands = {name: each[0]["hooks"][0]["command"] for name, each in laid["hooks"].items()}
    assert set(commands) == {
        "SessionStart", "UserPromptSubmit", "StopFailure", "Notification", "PreToolUse", "PermissionRequest", "Stop"
    }  # fmt: skip
    assert {name for name, command in commands.items() if "waits" in command} == {"PermissionRequest", "Stop"}
    assert '"behavior": "deny"' in commands["PermissionRequest"], "a dialog would wait for nobody"
    assert commands["PreToolUse"] == f"sh {SPAWN.folder / CAUTION}"
    assert laid["hooks"]["PreToolUse"][1]["hooks"][0]["command"] == f"sh {SPAWN.folder / DENIALS}"
    assert {CAUTION, DENIALS} <= launching.files.keys()
    timeouts = [each[0]["hooks"][0]["timeout"] for each in laid["hooks"].values()]
    assert min(timeouts) > 3600, "a hook that the program gives up cannot wait for room on the disk"
    assert "apiKeyHelper" not in json.loads(CLAUDE.launching(SPAWN).files[SETTINGS])
