"""Codex: how a run of it is launched, and what its hooks, its rollout and its screens mean."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model.agents import Agent
from orchestrator.model.event import EventKind, Failure, Reply, Say
from orchestrator.model.hands import Hands
from orchestrator.model.permission import Act
from orchestrator.model.tool_request import ToolRequest
from orchestrator.runtimes.codex import OVERRIDES, Codex
from orchestrator.runtimes.hooks import CAUTION, DENIALS
from orchestrator.runtimes.registry import runtime_of
from orchestrator.runtimes.screens import Shows, dialog_on, shown_on
from tests.unit.runtimes.captured import WORK, captured, screens
from tests.unit.runtimes.spawns import SPAWN, a_spawn

CODEX = Codex()
SESSION = "01a1f884-a369-7c93-b4e0-b44bc1c97f0e"
ROLLOUT = f"/bench/home/.codex/sessions/2026/11/20/rollout-2026-11-20T10-33-24-{SESSION}.jsonl"
SHOWN: dict[str, tuple[Shows, Failure | None] | None] = {
    "blocked": (Shows.RESTING, None),
    "busy": (Shows.BUSY, None),
    "cut": (Shows.RESTING, None),
    "dialog_hooks": (Shows.DIALOG, None),
    "dialog_login": (Shows.DIALOG, None),
    "dialog_trust": (Shows.DIALOG, None),
    "failed_credit_gone": (Shows.FAILED, Failure.CREDIT),
    "failed_overloaded": (Shows.FAILED, Failure.OVERLOAD),
    "failed_rate_limit_short": (Shows.FAILED, Failure.LIMIT),
    "failed_server_error": (Shows.FAILED, Failure.OVERLOAD),
    "failed_too_long": (Shows.FAILED, Failure.CONTEXT),
    "failed_unauthorized": (Shows.FAILED, Failure.LOGIN),
    "interrupted": (Shows.RESTING, None),
    "permission": (Shows.DIALOG, None),
    "permission_allow": (Shows.RESTING, None),
    "permission_deny": (Shows.RESTING, None),
    "permission_patch": (Shows.DIALOG, None),
    "permission_refused": (Shows.RESTING, None),
    "queued": (Shows.RESTING, None),
    "resting": (Shows.RESTING, None),
    "resumed": (Shows.RESTING, None),
    "streaming": None,  # nothing on it says that it works
    "typed": (Shows.RESTING, None),
    "waiting_rate_limit_hour": (Shows.FAILED, Failure.LIMIT),
    "failed_used_up": (Shows.FAILED, Failure.LIMIT),
    "failed_used_up_for_days": (Shows.FAILED, Failure.LIMIT),
}


def test_with_file_operations_its_sandbox_only_reads() -> None:
    """It asks nobody for more: what it says is its work."""
    agent = Agent("dev", tools=("Bash", "Write"), hands=Hands.OPERATIONS)
    argv = CODEX.launching(a_spawn(agent=agent)).argv
    assert argv[argv.index("--sandbox") + 1] == "read-only"
    assert argv[argv.index("--ask-for-approval") + 1] == "never"
    assert "--add-dir" not in argv


def settings(argv: tuple[str, ...]) -> dict[str, Any]:
    """Return what `-c` sets, read as TOML."""
    pairs = [argv[place + 1] for place, word in enumerate(argv) if word == "-c"]
    return tomllib.loads("".join(f"{pair.replace('=', ' = ', 1)}\n" for pair in pairs))


def test_it_is_found_by_its_name() -> None:
    assert runtime_of(Agent("dev", runtime="codex")).name == "codex"


def test_a_new_run_gets_its_order_as_the_last_argument() -> None:
    argv = CODEX.launching(SPAWN).argv
    assert argv[0] == "codex"
    assert argv[-2:] == ("--", SPAWN.prompt)
    assert {"--no-daemon", "--no-alt-screen", "--dangerously-bypass-hook-trust"} <= set(argv)
    assert "resume" not in argv


def test_a_session_is_gone_on_with() -> None:
    argv = CODEX.launching(a_spawn(resumes=SESSION)).argv
    assert argv[:2] == ("codex", "resume")
    assert argv[-3:] == (SESSION, "--", SPAWN.prompt)


def test_codex_asks_and_may_write_granted_folders() -> None:
    argv = CODEX.launching(SPAWN).argv
    words = " ".join(argv)
    assert "--ask-for-approval on-request --cd /project --sandbox workspace-write" in words
    assert [argv[place + 1] for place, word in enumerate(argv) if word == "--add-dir"] == [
        str(folder) for folder in SPAWN.granted
    ]


def test_an_agent_without_a_hand_to_write_with_reads_only() -> None:
    argv = CODEX.launching(a_spawn(agent=Agent("eye", tools=("Read", "Grep", "WebSearch")))).argv
    assert "--sandbox read-only" in " ".join(argv)
    assert "--add-dir" not in argv
    assert settings(argv)["web_search"] == "cached"


def test_its_model_is_the_definitions() -> None:
    argv = CODEX.launching(a_spawn(agent=Agent("dev", model="gpt-x"))).argv
    assert "--model gpt-x" in " ".join(argv)
    assert "--model" not in CODEX.launching(SPAWN).argv


def test_trust_hooks_and_silence_are_set_for_the_run_alone() -> None:
    launching = CODEX.launching(SPAWN)
    found = settings(launching.argv)
    assert found["projects"] == {"/project": {"trust_level": "trusted"}}
    assert found["approvals_reviewer"] == "user"
    assert found["web_search"] == "disabled"
    assert found["features"] == {"unbounded_connection_retries": False}
    assert "model_provider" not in found
    reported = {"SessionStart", "UserPromptSubmit", "PermissionRequest", "Stop", "PreToolUse"}
    assert found["hooks"].keys() == reported
    assert found["hooks"]["PreToolUse"][0]["hooks"][0]["command"] == f"sh {SPAWN.folder / CAUTION}"
    assert found["hooks"]["PreToolUse"][0]["hooks"][1]["command"] == f"sh {SPAWN.folder / DENIALS}"
    assert {CAUTION, DENIALS} <= launching.files.keys()
    assert tomllib.loads(launching.files[OVERRIDES].decode()) == found


def test_only_waiting_hooks_wait() -> None:
    """A permission that cannot be requested is denied."""
    hooks = settings(CODEX.launching(SPAWN).argv)["hooks"]
    commands = {name: each[0]["hooks"][0]["command"] for name, each in hooks.items()}
    assert {name for name, command in commands.items() if " waits " in command} == {
        "PermissionRequest",
        "Stop",
    }
    assert '"behavior": "deny"' in commands["PermissionRequest"]
    assert commands["Stop"].endswith("waits ''")
    assert all(each[0]["hooks"][0]["timeout"] >= 86_400 for each in hooks.values())


def test_own_key_replaces_the_login_and_stays_hidden() -> None:
    environ = {"CODEX_API_KEY": "sk-secret", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    launching = CODEX.launching(a_spawn(environ=environ))
    found = settings(launching.argv)
    assert found["model_providers"][found["model_provider"]]["base_url"] == environ["OPENAI_BASE_URL"]
    assert found["model_providers"][found["model_provider"]]["env_key"] == "CODEX_API_KEY"
    assert "CODEX_API_KEY" in found["shell_environment_policy"]["exclude"]
    assert "sk-secret" not in f"{launching}"
    vendors = settings(CODEX.launching(a_spawn(environ={"CODEX_API_KEY": "sk"})).argv)
    assert vendors["model_providers"]["by-key"]["base_url"] == "https://api.openai.com/v1"


@given(folder=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1))
def test_any_path_is_trusted_as_it_is(folder: str) -> None:
    from pathlib import Path

    workspace = Path("/", folder)
    found = settings(CODEX.launching(a_spawn(workspace=workspace)).argv)
    assert found["projects"] == {str(workspace): {"trust_level": "trusted"}}


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("SessionStart", EventKind.STARTED, ""),
        ("SessionStart_resume", EventKind.STARTED, ""),
        (
            "UserPromptSubmit",
            EventKind.TAKEN,
            "Read `this` $HOME:\n!ls\n/clear\n@file\n#note\n-x ünïcödé 🦉 ;",
        ),
        ("Stop", EventKind.ENDED, "I made it."),
    ],
)
def test_hook_payload_becomes_an_event(name: str, kind: EventKind, text: str) -> None:
    event = CODEX.event(captured("codex", name))
    assert event is not None
    assert (event.kind, event.text, event.session, event.transcript) == (kind, text, SESSION, ROLLOUT)


def test_what_says_nothing_of_a_turn() -> None:
    assert CODEX.event(captured("codex", "PostToolUse")) is None


def test_each_tool_is_held_against_denials_first() -> None:
    event = CODEX.event(captured("codex", "PreToolUse"))
    assert event is not None
    assert event.tool_request is not None
    assert (event.kind, event.tool_request.held, event.tool_request.again) == (EventKind.ASKED, True, False)


def test_permission_is_requested_for_a_command() -> None:
    event = CODEX.event(captured("codex", "PermissionRequest"))
    assert event is not None
    assert event.kind is EventKind.ASKED
    assert event.tool_request == ToolRequest("Bash", Act.RUN, command="git push", cwd=WORK)


def test_permission_is_requested_for_each_file_of_a_patch() -> None:
    patch = "*** Begin Patch\n*** Add File: /etc/a b\n+*** Add File: /no\n  *** Update File: /etc/c\n*** Move to: /d \n"
    reported = captured("codex", "PermissionRequest_patch") | {"tool_input": {"command": patch}}
    event = CODEX.event(reported)
    assert event is not None
    assert event.tool_request == ToolRequest("apply_patch", Act.WRITE, ("/etc/a b", "/etc/c", "/d"), cwd=WORK)


def test_patch_of_unknown_paths_matches_no_write_rule() -> None:
    """`cd /etc && apply_patch` tells the same: a path that is not whole must not be taken for one in the workspace."""
    reported = captured("codex", "PermissionRequest_patch")
    event = CODEX.event(reported)
    assert event is not None
    assert event.tool_request == ToolRequest(
        "apply_patch", Act.RUN, command=reported["tool_input"]["command"], cwd=WORK
    )


def test_subagent_ends_no_turn_and_needs_permission() -> None:
    assert CODEX.event(captured("codex", "Stop") | {"agent_id": "a", "agent_type": "worker"}) is None
    asked = CODEX.event(captured("codex", "PermissionRequest") | {"agent_id": "a", "agent_type": "worker"})
    assert asked is not None


@given(
    st.dictionaries(
        st.sampled_from(["hook_event_name", "session_id", "tool_name", "tool_input", "prompt", "agent_id"]),
        st.sampled_from(["PermissionRequest", "Stop", "apply_patch", "Bash"])
        | st.none()
        | st.integers()
        | st.lists(st.text()),
    )
)
def test_any_json_is_survived_and_requests_are_kept(reported: dict[str, Any]) -> None:
    event = CODEX.event(reported)
    asked = event is not None and event.kind is EventKind.ASKED and event.tool_request is not None
    assert asked == (reported.get("hook_event_name") == "PermissionRequest")


@pytest.mark.parametrize(
    ("trouble", "failure"),
    [
        ("rate_limit_short", Failure.LIMIT),
        ("used_up", Failure.LIMIT),
        ("used_up_for_days", Failure.LIMIT),
        ("overloaded", Failure.OVERLOAD),
        ("server_error", Failure.OVERLOAD),
        ("unauthorized", Failure.LOGIN),
        ("credit_gone", Failure.CREDIT),
        ("too_long", Failure.CONTEXT),
    ],
)
def test_failed_turn_is_read_from_the_rollout(trouble: str, failure: Failure) -> None:
    (event,) = CODEX.appended(lines(captured("codex", f"rollout_{trouble}")))
    assert (event.kind, event.failure) == (EventKind.FAILED, failure)
    assert event.text


@pytest.mark.parametrize(
    ("info", "message", "failure"),
    [
        (
            "usage_limit_exceeded",
            "You've hit your usage limit. Purchase more credits or try again at 3:45 PM.",
            Failure.LIMIT,
        ),
        ("usage_limit_exceeded", "Your workspace is out of credits.", Failure.CREDIT),
        ({"http_connection_failed": {"http_status_code": None}}, "Connection failed", Failure.OVERLOAD),
        ({"response_stream_disconnected": {"http_status_code": 502}}, "stream closed", Failure.OVERLOAD),
        ({"http_connection_failed": {"http_status_code": 404}}, "not found", Failure.OTHER),
        ("other", "Your refresh token was revoked. Please log out and sign in again.", Failure.LOGIN),
        ("a_word_of_tomorrow", "?", Failure.OTHER),
        (None, "?", Failure.OTHER),
        ([], "?", Failure.OTHER),
        ({}, "?", Failure.OTHER),
    ],
)
def test_failure_is_classified_by_message_and_status(info: object, message: str, failure: Failure) -> None:
    error = {"message": message, "codex_error_info": info}
    (event,) = CODEX.appended(
        lines([{"type": "event_msg", "payload": {"type": "task_complete", "error": error}}])
    )
    assert (event.failure, event.text) == (failure, message)


def test_interruption_is_read_from_the_rollout() -> None:
    (event,) = CODEX.appended(lines(captured("codex", "rollout_turn_aborted")))
    assert event.kind is EventKind.ABORTED
    (event,) = CODEX.appended(lines(captured("codex", "rollout_permission_refused")))
    assert event.kind is EventKind.ABORTED


def test_rollout_of_a_successful_turn_adds_nothing() -> None:
    assert CODEX.appended(lines(captured("codex", "rollout"))) == []


def test_lines_that_do_not_read_are_passed_over() -> None:
    torn = [
        b'{"task_complete"',
        b'["task_complete"]',
        b'{"payload": 1, "x": "task_complete"}',
        b'"task_complete"',
        b"\xff",
    ]
    assert CODEX.appended(torn) == []


def test_answers_are_in_the_words_of_its_hooks() -> None:
    deny = json.loads(CODEX.answer(Reply(Say.DENY, "Not here.")))
    assert deny["hookSpecificOutput"]["decision"] == {"behavior": "deny", "message": "Not here."}
    allow = json.loads(CODEX.answer(Reply(Say.ALLOW)))
    assert allow["hookSpecificOutput"] == {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "allow"},
    }
    assert json.loads(CODEX.answer(Reply(Say.GO_ON, "Write it."))) == {
        "decision": "block",
        "reason": "Write it.",
    }
    assert CODEX.answer(Reply(Say.PASS)) == ""


def test_rollouts_lie_where_its_user_has_them() -> None:
    assert [str(path) for path in CODEX.transcripts({"HOME": "/h"})] == ["/h/.codex/sessions"]
    assert [str(path) for path in CODEX.transcripts({"HOME": "/h", "CODEX_HOME": "/c"})] == ["/c/sessions"]


def test_every_captured_screen_is_in_the_table() -> None:
    assert screens("codex").keys() == SHOWN.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_what_a_captured_screen_shows(name: str) -> None:
    screen, wanted = screens("codex")[name], SHOWN[name]
    found = shown_on(screen, CODEX.screens)
    assert (found and (found[0].shows, found[0].failure)) == wanted
    assert bool(dialog_on(screen, CODEX.screens)) is (wanted is not None and wanted[0] is Shows.DIALOG)


def lines(events: list[dict[str, Any]]) -> list[bytes]:
    """Return events as the lines of a rollout."""
    return [json.dumps(event).encode() for event in events]
