"""Gemini CLI: how a run of it is launched, and what its hooks, its chat and its screens mean."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.model.agents import Agent
from orchestrator.model.event import EventKind, Failure, Reply, Say
from orchestrator.model.permission import Act
from orchestrator.model.tool_request import ToolRequest
from orchestrator.runtimes.gemini import DEFAULTS, GATE, ORDER, POLICY, SETTINGS, START, TRUST, Gemini
from orchestrator.runtimes.gemini_chat import said_once
from orchestrator.runtimes.hooks import CAUTION
from orchestrator.runtimes.registry import runtime_of
from orchestrator.runtimes.screens import Shows, dialog_on, shown_on
from tests.unit.runtimes.captured import WORK, captured, screens
from tests.unit.runtimes.spawns import SPAWN, a_spawn

GEMINI = Gemini()
SESSION = "11111111-2222-4333-8444-555555555555"
SHOWN: dict[str, tuple[Shows, Failure | None] | None] = {
    "blocked": (Shows.BUSY, None),
    "busy": (Shows.BUSY, None),
    "cut": (Shows.FAILED, None),
    "dialog_login": (Shows.DIALOG, None),
    "dialog_trust": (Shows.DIALOG, None),
    "failed_credit_gone": (Shows.FAILED, None),
    "failed_overloaded": (Shows.BUSY, None),  # two minutes of it: it might still be thinking
    "failed_rate_limit_hour": (Shows.DIALOG, Failure.LIMIT),
    "failed_rate_limit_zoned": (Shows.DIALOG, Failure.LIMIT),
    "failed_rate_limit_short": (Shows.BUSY, None),
    "failed_server_error": (Shows.BUSY, None),
    "failed_too_long": (Shows.FAILED, None),
    "failed_unauthorized": (Shows.FAILED, None),
    "interrupted": (Shows.RESTING, None),
    "permission": (Shows.DIALOG, None),
    "permission_by_policy": (Shows.RESTING, None),
    "permission_refused": (Shows.RESTING, None),
    "queued": (Shows.BUSY, None),
    "resting": (Shows.RESTING, None),
    "resumed": (Shows.RESTING, None),
    "streaming": (Shows.BUSY, None),
    "typed": None,  # somebody's text stands where the line to type in is known by
    "typed_question_mark": None,
}


def laid(name: str, **changed: Any) -> Any:
    """Return a file of a run, read."""
    content = GEMINI.launching(a_spawn(**changed)).files[name].decode()
    return tomllib.loads(content) if name.endswith(".toml") else json.loads(content)


def said_by(prompt: str) -> str:
    """Return what a command's text says, as Gemini CLI 0.61.0 makes it [its `ShellProcessor`]; nothing may be run."""
    assert "@{" not in prompt
    said, rest = "", prompt
    while "!{" in rest:
        segment, _, rest = rest.partition("!{")
        depth, end = 1, 0
        while depth:
            depth += {"{": 1, "}": -1}.get(rest[end], 0)
            end += 1
        assert not rest[: end - 1].strip()
        said += segment.replace("{{args}}", "")
        rest = rest[end:]
    return said + rest.replace("{{args}}", "")


def test_it_is_found_by_its_name() -> None:
    assert runtime_of(Agent("dev", runtime="gemini")).name == "gemini"


def test_a_new_run_gets_its_order_and_its_session() -> None:
    argv = GEMINI.launching(SPAWN).argv
    assert argv[:2] == ("sh", str(SPAWN.folder / START))
    assert argv[-1] == f"--prompt-interactive={SPAWN.prompt}"
    assert argv[-3:-1] == ("--session-id", SPAWN.session)


@pytest.mark.parametrize(
    "text", ["# Agent: dev\nRead @README.md.", "# Agent: dev\n@", "a@b", "\\\\@x \\@y @z"]
)
def test_an_order_in_which_files_could_be_named_is_a_command(text: str) -> None:
    launching = GEMINI.launching(a_spawn(prompt=text))
    assert launching.argv[-1] == "--prompt-interactive=/order-r-1"
    assert said_by(laid(ORDER, prompt=text)["prompt"]) == text


def test_an_order_in_which_none_can_be_is_no_command() -> None:
    for text in (SPAWN.prompt, "# Agent: dev\n\\@x !{ls} {{args}}"):
        launching = GEMINI.launching(a_spawn(prompt=text))
        assert (launching.argv[-1], ORDER in launching.files) == (f"--prompt-interactive={text}", False)


@given(
    st.lists(st.sampled_from(["!", "@", "{", "}", "{{args}}", "!{", "@{", "!{}", "$&", "a", "\n"])).map(
        "".join
    )
    | st.text()
)
def test_a_command_says_every_order_as_it_is(text: str) -> None:
    assert said_by(laid(ORDER, prompt=f"@{text}")["prompt"]) == f"@{text}"


def test_a_command_that_was_not_there_yet_delivered_nothing() -> None:
    event = GEMINI.event(captured("gemini", "BeforeAgent") | {"prompt": "/order-r-1"})
    assert event is not None
    assert (event.kind, event.failure) == (EventKind.FAILED, Failure.OTHER)


def test_it_clears_away_no_sessions_of_others() -> None:
    assert laid(SETTINGS)["general"]["sessionRetention"] == {"enabled": False}


def test_a_session_is_gone_on_with() -> None:
    argv = GEMINI.launching(a_spawn(resumes=SESSION)).argv
    assert argv[-3:-1] == ("--resume", SESSION)
    assert "--session-id" not in argv


def test_it_may_write_what_it_was_granted_and_trusts_it() -> None:
    argv = GEMINI.launching(SPAWN).argv
    granted = [str(folder) for folder in SPAWN.granted]
    assert [argv[place + 1] for place, word in enumerate(argv) if word == "--include-directories"] == granted
    assert laid(TRUST) == dict.fromkeys([str(SPAWN.workspace), *granted], "TRUST_FOLDER")


def test_its_model_is_the_definitions() -> None:
    assert "--model m" in " ".join(GEMINI.launching(a_spawn(agent=Agent("dev", model="m"))).argv)
    assert "--model" not in GEMINI.launching(SPAWN).argv


def test_the_gate_stands_ahead_of_every_tool_that_does_something() -> None:
    gate, caution = laid(SETTINGS)["hooks"]["BeforeTool"]
    assert caution["hooks"][0]["command"] == f"sh {SPAWN.folder / CAUTION}"
    assert "matcher" not in caution
    assert gate["hooks"][0]["command"] == f"sh {SPAWN.folder / GATE}"
    for tool in (
        "write_file",
        "replace",
        "run_shell_command",
        "web_fetch",
        "mcp_a_read_file",
        "read_file_2",
        "x",
    ):
        assert re.search(gate["matcher"], tool), tool
    for tool in ("read_file", "glob", "write_todos"):
        assert not re.search(gate["matcher"], tool), tool


def test_hooks_cannot_be_switched_off_and_wait_for_a_person() -> None:
    settings = laid(SETTINGS)
    assert settings["hooksConfig"] == {"enabled": True, "disabled": [], "notifications": False}
    assert settings["hooks"].keys() == {
        "SessionStart",
        "BeforeAgent",
        "BeforeTool",
        "AfterAgent",
        "Notification",
    }
    assert all(each[0]["hooks"][0]["timeout"] >= 86_400_000 for each in settings["hooks"].values())


def test_its_own_rules_let_the_gate_decide() -> None:
    allowed, denied = laid(POLICY)["rule"]
    assert (allowed["toolName"], allowed["decision"], allowed["allowRedirection"]) == ("*", "allow", True)
    assert (denied["decision"], denied["toolName"]) == (
        "deny",
        ["ask_user", "enter_plan_mode", "exit_plan_mode"],
    )
    assert denied["priority"] > allowed["priority"]


def test_tools_that_a_definition_leaves_out_are_not_there() -> None:
    denied = laid(POLICY, agent=Agent("eye", tools=("Read", "Grep", "Edit")))["rule"][1]["toolName"]
    assert set(denied) >= {"write_file", "run_shell_command", "web_fetch", "google_web_search"}
    assert "replace" not in denied


@pytest.mark.parametrize(
    ("environ", "kind"),
    [
        ({"GEMINI_API_KEY": "k"}, "gemini-api-key"),
        ({"GEMINI_API_KEY": "k", "GOOGLE_GENAI_USE_VERTEXAI": "true"}, "vertex-ai"),
        ({"GOOGLE_GENAI_USE_GCA": "true"}, "oauth-personal"),
    ],
)
def test_a_login_of_the_environment_needs_no_dialog(environ: dict[str, str], kind: str) -> None:
    assert laid(DEFAULTS, environ=environ) == {"security": {"auth": {"selectedType": kind}}}
    assert laid(DEFAULTS, environ={}) == {}


def test_its_key_reaches_no_command_and_no_file() -> None:
    environ = {"HOME": "/h", "GEMINI_API_KEY": "very-secret", "GITHUB_TOKEN": "also-secret"}
    redaction = laid(SETTINGS, environ=environ)["security"]["environmentVariableRedaction"]
    assert redaction == {"enabled": True, "blocked": ["GEMINI_API_KEY"], "allowed": ["GITHUB_TOKEN", "HOME"]}
    assert "-secret" not in f"{GEMINI.launching(a_spawn(environ=environ))}"


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("BeforeAgent", EventKind.TAKEN, "Read `this` $HOME:\n!ls\n/clear\n@file\n#note\n-x ünïcödé 🦉 ;"),
        ("Notification", EventKind.WAITING, "Tool Confirm Shell Command requires execution"),
        ("AfterAgent", EventKind.ENDED, "I made it."),
    ],
)
def test_hook_payload_becomes_an_event(name: str, kind: EventKind, text: str) -> None:
    reported = captured("gemini", name)
    event = GEMINI.event(reported)
    assert event is not None
    assert (event.kind, event.text, event.session) == (kind, text, SESSION)
    assert event.transcript == reported["transcript_path"]


@pytest.mark.parametrize("name", ["SessionStart", "SessionStart_resume"])
def test_a_start_names_no_chat_for_it_may_be_another(name: str) -> None:
    event = GEMINI.event(captured("gemini", name))
    assert event is not None
    assert (event.kind, event.session, event.transcript) == (EventKind.STARTED, SESSION, "")


@pytest.mark.parametrize("name", ["AfterTool", "SessionEnd"])
def test_what_says_nothing_of_a_turn(name: str) -> None:
    assert GEMINI.event(captured("gemini", name)) is None


@pytest.mark.parametrize("said", ["[no response text]", " \n \n ", ""])
def test_a_turn_that_said_nothing_has_not_ended_well(said: str) -> None:
    assert GEMINI.event(captured("gemini", "AfterAgent") | {"prompt_response": said}) is None


@pytest.mark.parametrize(
    ("tool", "given", "act", "paths", "command", "cwd"),
    [
        ("write_file", {"file_path": "a.md", "content": "x"}, Act.WRITE, ("a.md",), "", WORK),
        ("replace", {"file_path": "/etc/x"}, Act.WRITE, ("/etc/x",), "", WORK),
        ("run_shell_command", {"command": "ls"}, Act.RUN, (), "ls", WORK),
        ("run_shell_command", {"command": "ls", "dir_path": "sub"}, Act.RUN, (), "ls", f"{WORK}/sub"),
        ("run_shell_command", {"command": "ls", "dir_path": "/etc"}, Act.RUN, (), "ls", "/etc"),
        (
            "web_fetch",
            {"prompt": "Read https://a.example/b?c."},
            Act.FETCH,
            (),
            "https://a.example/b?c",
            WORK,
        ),
        ("web_fetch", {"prompt": "https://a.example, https://b.example"}, Act.FETCH, (), "", WORK),
        ("google_web_search", {"query": "x"}, Act.FETCH, (), "", WORK),
        ("mcp_a_b", {"file_path": "x"}, Act.OTHER, (), "", WORK),
    ],
)
def test_permission_is_requested_for_a_tool(
    tool: str, given: dict[str, str], act: Act, paths: tuple[str, ...], command: str, cwd: str
) -> None:
    event = GEMINI.event(captured("gemini", "BeforeTool") | {"tool_name": tool, "tool_input": given})
    assert event is not None
    assert (event.kind, event.tool_request) == (
        EventKind.ASKED,
        ToolRequest(tool, act, paths, command, cwd=cwd),
    )


@given(
    st.dictionaries(
        st.sampled_from(
            ["hook_event_name", "session_id", "tool_name", "tool_input", "cwd", "prompt_response"]
        ),
        st.sampled_from(["BeforeTool", "AfterAgent", "run_shell_command", "\0"])
        | st.none()
        | st.dictionaries(st.sampled_from(["dir_path", "command"]), st.text() | st.integers()),
    )
)
def test_any_json_is_survived_and_requests_are_kept(reported: dict[str, Any]) -> None:
    event = GEMINI.event(reported)
    asked = event is not None and event.kind is EventKind.ASKED and event.tool_request is not None
    assert asked == (reported.get("hook_event_name") == "BeforeTool")


@pytest.mark.parametrize(
    ("trouble", "failure"),
    [
        ("unauthorized", Failure.LOGIN),
        ("credit_gone", Failure.CREDIT),
        ("too_long", Failure.CONTEXT),
        ("cut", Failure.OVERLOAD),
    ],
)
def test_failed_turn_is_read_from_the_chat(trouble: str, failure: Failure) -> None:
    (event,) = GEMINI.appended(lines(captured("gemini", f"transcript_{trouble}")))
    assert (event.kind, event.failure) == (EventKind.FAILED, failure)


@pytest.mark.parametrize(
    ("said", "failure"),
    [
        ('[API Error: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]', Failure.LIMIT),
        ('[API Error: {"error":{"code":503,"message":"Try later."}}]', Failure.OVERLOAD),
        ('[API Error: {"error":{"code":403,"message":"No."}}]', Failure.LOGIN),
        ("[API Error: something of tomorrow]", Failure.OTHER),
    ],
)
def test_failure_is_classified_by_message_and_code(said: str, failure: Failure) -> None:
    (event,) = GEMINI.appended(lines([{"type": "error", "content": said}]))
    assert (event.failure, event.text) == (failure, said)


def test_interruption_is_read_from_the_chat() -> None:
    (event,) = GEMINI.appended(lines(captured("gemini", "transcript_interrupted")))
    assert event.kind is EventKind.ABORTED


def test_other_lines_of_a_chat_say_nothing() -> None:
    reported = [
        {"type": "error", "content": "Unknown command: /x"},
        {"type": "gemini", "content": '[API Error "error"'},
    ]
    assert GEMINI.appended([*lines(reported), b'{"type":"error"', b'["error"]', b'"error"', b"\xff"]) == []


@pytest.mark.parametrize(
    ("reported", "said"),
    [
        (" \nI made it. ade  it . ", " \nI made it."),
        ("Done. ne . \nDone. ne . ", "Done. ne . \nDone."),
        ("# A\n\n- b.\n \n- b .\n ", "# A\n\n- b.\n"),
        ("Fine.", "Fine."),
        ("One, t wo, th", "One, t wo, th"),
    ],
)
def test_what_was_said_is_taken_without_its_repetition(reported: str, said: str) -> None:
    assert said_once(reported) == said


@given(
    first=st.text("abcd", min_size=1, max_size=20),
    pieces=st.lists(st.text("abcd .\n", min_size=1, max_size=12), min_size=1, max_size=6),
)
def test_whatever_pieces_it_came_in(first: str, pieces: list[str]) -> None:
    whole = f"# {first}{''.join(pieces)}!"
    assert said_once(" ".join([whole, *pieces[:-1], f"{pieces[-1]}!", ""])) == whole


def test_answers_are_in_the_words_of_its_hooks() -> None:
    assert json.loads(GEMINI.answer(Reply(Say.ALLOW))) == {"decision": "allow"}
    assert json.loads(GEMINI.answer(Reply(Say.DENY, "No."))) == {"decision": "deny", "reason": "No."}
    assert json.loads(GEMINI.answer(Reply(Say.GO_ON, "Go."))) == {"decision": "deny", "reason": "Go."}
    assert GEMINI.answer(Reply(Say.PASS)) == ""


@pytest.mark.parametrize(
    ("relay", "said", "code"),
    [
        ("printf '%s' '{\"decision\": \"allow\"}'", {"decision": "allow"}, 0),
        ("exit 0", None, 2),
        ("exit 1", None, 2),
        ("kill -9 $$", None, 2),
        ("kill -TERM $PPID; sleep 0.2", None, 2),
        (None, None, 2),
    ],
)
def test_the_gate_lets_nothing_through_without_an_answer(
    tmp_path: Path, relay: str | None, said: dict[str, str] | None, code: int
) -> None:
    (tmp_path / GATE).write_bytes(GEMINI.launching(SPAWN).files[GATE])
    if relay is not None:
        (tmp_path / "relay.sh").write_text(relay)
    done = subprocess.run(
        ["sh", str(tmp_path / GATE)], input=b"{}", capture_output=True, timeout=20, check=False
    )
    assert done.returncode == code
    answer = json.loads(done.stdout)
    assert answer == said if said else answer["decision"] == "deny"


def test_chats_lie_where_its_user_has_them() -> None:
    assert [str(path) for path in GEMINI.transcripts({"HOME": "/h"})] == ["/h/.gemini/tmp"]
    assert [str(path) for path in GEMINI.transcripts({"HOME": "/h", "GEMINI_CLI_HOME": "/g"})] == [
        "/g/.gemini/tmp"
    ]


def test_every_captured_screen_is_in_the_table() -> None:
    assert screens("gemini").keys() == SHOWN.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_what_a_captured_screen_shows(name: str) -> None:
    screen, wanted = screens("gemini")[name], SHOWN[name]
    found = shown_on(screen, GEMINI.screens)
    assert (found and (found[0].shows, found[0].failure)) == wanted
    assert bool(dialog_on(screen, GEMINI.screens)) is (wanted is not None and wanted[0] is Shows.DIALOG)


def test_the_clock_of_its_spinner_shows_no_failure() -> None:
    """A long answer may be streaming: whether nothing comes is told by its records and by what its screen says."""
    screen = screens("gemini")["failed_overloaded"].replace("1m 59s", "6m 2s")
    found = shown_on(screen, GEMINI.screens)
    assert found is not None
    assert (found[0].shows, found[0].failure) == (Shows.BUSY, None)


def lines(events: list[dict[str, Any]]) -> list[bytes]:
    """Return events as the lines of a chat."""
    return [json.dumps(event).encode() for event in events]
