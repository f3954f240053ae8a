"""What lines of the records of agent programs tell; captured ones, and any others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.transcript_records import (
    WORDS,
    alike,
    claude_records,
    codex_records,
    gemini_records,
    our_records,
    words_of,
)
from orchestrator.model.activity import Called, Prompted, Record, Returned, Spoke, Stage

FIXTURES = Path(__file__).parents[2] / "fixtures" / "clis"
Reading = Callable[[bytes], list[Record]]
READERS: list[Reading] = [claude_records, codex_records, gemini_records, our_records]


def records_of(reading: Reading, *lines: object) -> list[Record]:
    found = [json.dumps(line, separators=(",", ":")).encode() for line in lines]
    return [record for line in found for record in reading(line)]


def kinds(records: list[Record]) -> list[str]:
    return [
        f"{type(each).__name__}" + (f" {each.then.value}" if isinstance(each, Spoke) else "")
        for each in records
    ]


@pytest.mark.parametrize("version", ["claude", "claude-2.1.197"])
def test_captured_claude_turns_are_read(version: str) -> None:
    lines = json.loads((FIXTURES / version / "transcript.json").read_text())
    found = kinds(records_of(claude_records, *lines))
    turn = ["Prompted", "Called", "Returned", "Spoke over", "Spoke over"]
    assert found[:5] == turn
    assert found[5:10] == turn


def test_captured_codex_turn_is_read() -> None:
    lines = json.loads((FIXTURES / "codex" / "rollout.json").read_text())
    found = kinds(records_of(codex_records, *lines))
    assert found[0] == "Prompted"
    assert found.index("Called") < found.index("Returned") < len(found) - 1
    assert found[-2:] == ["Prompted", "Spoke over"]


def test_gemini_call_is_known_by_its_result() -> None:
    """Until then nothing tells a call from the end of a turn (as captured)."""
    begun = {"id": "g1", "type": "gemini", "content": "", "thoughts": []}
    call = {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}}
    came = {"functionResponse": {"id": "c1", "name": "run_shell_command", "response": {"output": "made.txt"}}}
    found = records_of(
        gemini_records,
        {"id": "u1", "type": "user", "content": [{"text": "Work."}]},
        begun,
        begun | {"toolCalls": [call]},
        {"id": "u2", "type": "user", "content": [came]},
        {"id": "g2", "type": "gemini", "content": "Done."},
    )
    assert kinds(found) == ["Prompted", "Spoke ", "Called", "Returned", "Spoke "]
    assert [each.words for each in found if isinstance(each, Called)] == ["run_shell_command: ls"]


def test_claude_subagent_records_are_only_signs_of_life() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    line = {
        "type": "assistant",
        "isSidechain": True,
        "message": {"content": [call], "stop_reason": "tool_use"},
    }
    assert kinds(records_of(claude_records, line)) == ["Spoke model"]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("[Request interrupted by user]", ["Prompted", "Spoke over"]),
        (
            [{"type": "text", "text": "[Request interrupted by user for tool use]"}],
            ["Prompted", "Spoke over"],
        ),
        ("Go on.", ["Prompted"]),
    ],
)
def test_a_turn_of_claude_that_was_broken_off_is_over(content: object, found: list[str]) -> None:
    assert kinds(records_of(claude_records, {"type": "user", "message": {"content": content}})) == found


@pytest.mark.parametrize(
    ("said", "found"), [("Stop hook feedback:\nWrite it.", ["Prompted"]), ("<caveat>", [])]
)
def test_claude_synthetic_user_records_need_a_hook(said: str, found: list[str]) -> None:
    assert (
        kinds(records_of(claude_records, {"type": "user", "isMeta": True, "message": {"content": said}}))
        == found
    )


def test_requests_that_claude_makes_again_are_no_sign() -> None:
    """It notes each (2.1.328), those that come to nothing too."""
    assert records_of(claude_records, {"type": "api-request", "timestamp": "2026-11-22T15:56:44Z"}) == []


def test_tokens_that_codex_counts_again_are_no_sign() -> None:
    assert (
        records_of(codex_records, {"type": "event_msg", "payload": {"type": "token_count", "info": {}}}) == []
    )


def test_codex_turn_that_polls_background_work_waits() -> None:
    def calls(**given: object) -> bool:
        payload = {
            "type": "function_call",
            "name": "write_stdin",
            "call_id": "c",
            "arguments": json.dumps(given),
        }
        (found,) = records_of(codex_records, {"type": "response_item", "payload": payload})
        assert isinstance(found, Called)
        return found.waits

    assert calls(session_id=1, chars="")
    assert not calls(session_id=1, chars="y\n")


def test_results_that_differ_only_in_numbers_are_alike() -> None:
    assert alike("12 passed in 0.31 s") == alike("12 passed in 0.4 s")
    assert alike("Chunk ID: 9e7c49\nWall time: 0.1") == alike("Chunk ID: abcdef\nWall time: 2.0")
    assert alike("1 failed") != alike("1 passed")


def test_calls_are_equal_only_literally() -> None:
    def call(command: str) -> int:
        part = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": command}}
        (found,) = records_of(claude_records, {"type": "assistant", "message": {"content": [part]}})
        assert isinstance(found, Called)
        return found.call

    assert call("sed -n 1,9p a") == call("sed -n 1,9p a") != call("sed -n 10,19p a")


def test_a_call_is_named_by_one_short_line() -> None:
    assert words_of("Bash", {"command": "make\n  all"}) == "Bash: make all"
    assert words_of("Agent", {"count": 3}) == "Agent"
    assert len(words_of("Bash", {"command": "x" * 9999})) == WORDS


def test_what_our_plugin_records_is_read() -> None:
    lines = [
        {"record": "prompted"},
        {"record": "called", "id": "c1", "tool": "bash", "words": "ls", "print": "ab"},
        {"record": "returned", "id": "c1", "print": "cd"},
        {"record": "spoke"},
        {"record": "spoke", "over": True},
        {"record": "else"},
    ]
    assert kinds(records_of(our_records, *lines)) == [
        "Prompted",
        "Called",
        "Returned",
        "Spoke model",
        "Spoke over",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["type", "message", "payload", "content", "record", "role", "input", "toolCalls", "call_id"]
)
ODD = st.sampled_from(
    [
        "user",
        "assistant",
        "gemini",
        "response_item",
        "event_msg",
        "function_call",
        "tool_use",
        "called",
        "system",
    ]
)


@given(st.dictionaries(NAMES, JSON | ODD | st.lists(st.dictionaries(NAMES, JSON | ODD))))
def test_no_form_raises(line: dict[str, object]) -> None:
    """Each line is read by all: to draw it costs more than to read it."""
    data = json.dumps(line, separators=(",", ":")).encode("utf-8", "surrogatepass")
    for reading in READERS:
        for record in reading(data):
            assert isinstance(record, Called | Prompted | Returned | Spoke)


@pytest.mark.parametrize("reading", READERS)
@pytest.mark.parametrize("data", [b"", b"\xff", b"[" * 100_000, b'"type":"user"', b'{"type":"user"'])
def test_line_that_is_no_json_is_ignored(reading: Reading, data: bytes) -> None:
    assert reading(data) == []


def test_stage_after_a_message_is_known() -> None:
    assert Spoke().then is Stage.MODEL
