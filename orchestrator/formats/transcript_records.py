"""What the records of agent programs show about a turn, line by line: calls, their results, and messages.

| program | a call | its result | the end of a turn |
|---|---|---|---|
| Claude Code | `assistant` with `tool_use` | `user` with `tool_result` | `assistant` with `stop_reason` |
| Codex | `response_item`: `…_call` | `response_item`: `…_call_output` | `event_msg`: `task_complete` |
| Gemini CLI | `gemini` with `toolCalls` | `user` with `functionResponse` | not recorded |
| our own plugins | `called` | `returned` | `spoke` with `over` |

Other programs write these files: no content makes it raise. A line without a known keyword is not parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final

from orchestrator.formats.json_fields import listed, text_of
from orchestrator.model.activity import Called, Prompted, Record, Returned, Spoke, Stage

LINE: Final = 16_777_216
"""Most bytes of a line that is parsed; longer lines are skipped."""
WORDS: Final = 160
"""Characters of a call's name."""

_NUMBERS: Final = re.compile(r"\d+")
_CHUNK: Final = re.compile(r"\AChunk ID: \w+\n")
"""The number that Codex puts before a command's output; it differs each time."""

_CLAUDE: Final = (b'"type":"assistant"', b'"type":"user"', b'"subtype":"turn_duration"')
_INTERRUPTED: Final = "[Request interrupted"
_GO_ON: Final = "Stop hook feedback"
_ENDS: Final = frozenset({"end_turn", "stop_sequence", "max_tokens", "refusal"})
_CLAUDE_WAITS: Final = frozenset({"BashOutput", "TaskOutput", "AgentOutputTool", "Monitor"})

_CODEX: Final = (b'"response_item"', b'"task_started"', b'"task_complete"', b'"turn_aborted"')
_CODEX_CALLS: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_CODEX_RESULTS: Final = frozenset({"function_call_output", "custom_tool_call_output"})

_GEMINI: Final = (b'"type":"gemini"', b'"type":"user"', b'"type":"info"', b'"type":"error"')
_GEMINI_WAITS: Final = frozenset({"read_background_output", "list_background_processes"})

_OURS: Final = b'"record"'

_Object = Mapping[str, Any]


def claude_records(line: bytes) -> list[Record]:
    """Return the records in one line of a Claude Code session. Never raises."""
    return list(_claude(_loaded(line, _CLAUDE)))


def codex_records(line: bytes) -> list[Record]:
    """Return the records in one line of a Codex rollout. Never raises."""
    return list(_codex(_loaded(line, _CODEX)))


def gemini_records(line: bytes) -> list[Record]:
    """Return the records in one line of a Gemini CLI chat. Never raises."""
    return list(_gemini(_loaded(line, _GEMINI)))


def our_records(line: bytes) -> list[Record]:
    """Return the records in one line that a plugin or a hook of ours wrote. Never raises."""
    return list(_ours(_loaded(line, (_OURS,))))


def fingerprint(*parts: str) -> int:
    """Return a number by which equal texts are recognised."""
    data = "\0".join(parts).encode("utf-8", "replace")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def alike(result: str) -> str:
    """Return a result with its numbers replaced by 0, as they differ each time: times, sizes, process ids."""
    return _NUMBERS.sub("0", _CHUNK.sub("", result))


def words_of(tool: str, given: object) -> str:
    """Return a call in a form for people: `Bash: git status`."""
    if isinstance(given, Mapping):
        said = next((value for value in given.values() if isinstance(value, str) and value.strip()), "")
    else:
        said = given if isinstance(given, str) else ""
    named = " ".join(f"{tool}: {said}".split()) if said else tool
    return named if len(named) <= WORDS else f"{named[: WORDS - 1]}…"


# -------------------------------------------------------------------------------------------------


def _claude(record: _Object) -> Iterator[Record]:
    message = record.get("message")
    message = message if isinstance(message, dict) else {}
    # A subagent's record is a sign of life, but no call of the turn itself.
    aside = record.get("isSidechain") is True
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    match text_of(record, "type"):
        case "assistant" if aside:
            yield Spoke()
        case "assistant":
            calls = [part for part in parts if part.get("type") == "tool_use"]
            for part in calls:
                yield _called(text_of(part, "id"), text_of(part, "name"), part.get("input"), _CLAUDE_WAITS)
            if not calls:
                ends = text_of(message, "stop_reason") in _ENDS
                yield Spoke(Stage.OVER if ends else Stage.MODEL)
        case "user" if aside:
            yield Spoke()
        case "user":
            results = [part for part in parts if part.get("type") == "tool_result"]
            for part in results:
                yield Returned(text_of(part, "tool_use_id"), _result(part.get("content")))
            said = text_of(message, "content") or next((text_of(part, "text") for part in parts), "")
            # Other entries in the user's name do not start a turn.
            if not results and (record.get("isMeta") is not True or said.startswith(_GO_ON)):
                yield Prompted()
            if said.startswith(_INTERRUPTED):
                yield Spoke(Stage.OVER)
        case "system" if text_of(record, "subtype") == "turn_duration":
            yield Spoke(Stage.OVER)
        case _:
            return


def _codex(record: _Object) -> Iterator[Record]:
    payload = record.get("payload")
    payload = payload if isinstance(payload, dict) else {}
    kind, call = text_of(payload, "type"), text_of(payload, "call_id")
    match text_of(record, "type"), kind:
        case "event_msg", "task_started":
            yield Prompted()
        case "event_msg", "task_complete" | "turn_aborted":
            yield Prompted()
            yield Spoke(Stage.OVER)
        case "response_item", _ if kind in _CODEX_CALLS:
            given = text_of(payload, "arguments") or text_of(payload, "input") or _json(payload.get("action"))
            name = text_of(payload, "name") or kind
            yield Called(
                call, fingerprint(name, given), words_of(name, _object(given) or given), _polls(name, given)
            )
        case "response_item", _ if kind in _CODEX_RESULTS:
            yield Returned(call, _result(payload.get("output")))
        case "response_item", "message" if text_of(payload, "role") == "assistant":
            yield Spoke()
        case "response_item", "reasoning":
            yield Spoke()
        case _:
            return


def _polls(name: str, given: str) -> bool:
    """Return whether a call of Codex only reads new output of a running command."""
    return name == "write_stdin" and not text_of(_object(given), "chars")


def _gemini(record: _Object) -> Iterator[Record]:
    match text_of(record, "type"):
        case "user":
            responses = [
                each.get("functionResponse") for each in listed(record, "content") if isinstance(each, dict)
            ]
            results = [each for each in responses if isinstance(each, dict)]
            for each in results:
                yield Returned(text_of(each, "id"), _result(each.get("response")))
            if not results:
                yield Prompted()
        case "gemini":
            calls = [each for each in listed(record, "toolCalls") if isinstance(each, dict)]
            for each in calls:
                yield _called(text_of(each, "id"), text_of(each, "name"), each.get("args"), _GEMINI_WAITS)
            if not calls:
                # Gemini records calls only together with their results: until then this may be one.
                yield Spoke(Stage.UNKNOWN)
        case "info" | "error":
            yield Spoke(Stage.OVER)
        case _:
            return


def _ours(record: _Object) -> Iterator[Record]:
    name = text_of(record, "id")
    match text_of(record, "record"):
        case "called":
            words = words_of(text_of(record, "tool"), text_of(record, "words"))
            yield Called(name, fingerprint(text_of(record, "print")), words)
        case "returned":
            yield Returned(name, fingerprint(text_of(record, "print")))
        case "prompted":
            yield Prompted()
        case "spoke":
            yield Spoke(Stage.OVER if record.get("over") is True else Stage.MODEL)
        case _:
            return


def _called(name: str, tool: str, given: object, waits: frozenset[str]) -> Called:
    return Called(name, fingerprint(tool, _json(given)), words_of(tool, given), tool in waits)


def _result(content: object) -> int:
    return fingerprint(alike(content if isinstance(content, str) else _json(content)))


def _json(value: object) -> str:
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""


def _object(text: str) -> _Object:
    return _loaded(text.encode("utf-8", "replace"))


def _loaded(line: bytes, wanted: tuple[bytes, ...] = ()) -> _Object:
    """Return the object in a line if one of these words is in it; else an empty one."""
    if len(line) > LINE or (wanted and not any(word in line for word in wanted)):
        return {}
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
