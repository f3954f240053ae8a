"""What the records of agent programs tell of a turn, line by line: calls, what came of them, what was said.

| program | a call | its result | the end of a turn |
|---|---|---|---|
| Claude Code | `assistant` with `tool_use` | `user` with `tool_result` | `assistant` with `stop_reason` |
| Codex | `response_item`: `…_call` | `response_item`: `…_call_output` | `event_msg`: `task_complete` |
| Gemini CLI | `gemini` with `toolCalls` | `user` with `functionResponse` | not told |
| our own plugins | `called` | `returned` | `spoke` with `over` |

Others write these files: no form of theirs raises. A line that tells nothing here is not parsed.
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
"""The most bytes of a line that is read."""
WORDS: Final = 160
"""Characters by which a call is named."""

_NUMBERS: Final = re.compile(r"\d+")
_CHUNK: Final = re.compile(r"\AChunk ID: \w+\n")
"""How Codex numbers what a command printed; it is another one each time."""

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
    """Return what one line of a session of Claude Code tells. Never raises."""
    return list(_claude(_loaded(line, _CLAUDE)))


def codex_records(line: bytes) -> list[Record]:
    """Return what one line of a rollout of Codex tells. Never raises."""
    return list(_codex(_loaded(line, _CODEX)))


def gemini_records(line: bytes) -> list[Record]:
    """Return what one line of a chat of Gemini CLI tells. Never raises."""
    return list(_gemini(_loaded(line, _GEMINI)))


def our_records(line: bytes) -> list[Record]:
    """Return what one line tells that a plugin or a hook of ours wrote. Never raises."""
    return list(_ours(_loaded(line, (_OURS,))))


def fingerprint(*parts: str) -> int:
    """Return a number by which texts are known again."""
    told = "\0".join(parts).encode("utf-8", "replace")
    return int.from_bytes(blake2b(told, digest_size=8).digest(), "big")


def alike(result: str) -> str:
    """Return a result without what differs each time: times, sizes, numbers of processes."""
    return _NUMBERS.sub("0", _CHUNK.sub("", result))


def words_of(tool: str, given: object) -> str:
    """Return how a person would name a call: `Bash: git status`."""
    if isinstance(given, Mapping):
        said = next((value for value in given.values() if isinstance(value, str) and value.strip()), "")
    else:
        said = given if isinstance(given, str) else ""
    named = " ".join(f"{tool}: {said}".split()) if said else tool
    return named if len(named) <= WORDS else f"{named[: WORDS - 1]}…"


# -------------------------------------------------------------------------------------------------


def _claude(told: _Object) -> Iterator[Record]:
    message = told.get("message")
    message = message if isinstance(message, dict) else {}
    aside = (
        told.get("isSidechain") is True
    )  # an agent of the agent's: a sign of life, and no call of the turn's own
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    match text_of(told, "type"):
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
            # What else is added in the user's name prompts nothing.
            if not results and (told.get("isMeta") is not True or said.startswith(_GO_ON)):
                yield Prompted()
            if said.startswith(_INTERRUPTED):
                yield Spoke(Stage.OVER)
        case "system" if text_of(told, "subtype") == "turn_duration":
            yield Spoke(Stage.OVER)
        case _:
            return


def _codex(told: _Object) -> Iterator[Record]:
    payload = told.get("payload")
    payload = payload if isinstance(payload, dict) else {}
    kind, call = text_of(payload, "type"), text_of(payload, "call_id")
    match text_of(told, "type"), kind:
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
    """Return whether a call of Codex only looks what a command that goes on has printed since."""
    return name == "write_stdin" and not text_of(_object(given), "chars")


def _gemini(told: _Object) -> Iterator[Record]:
    match text_of(told, "type"):
        case "user":
            responses = [
                each.get("functionResponse") for each in listed(told, "content") if isinstance(each, dict)
            ]
            results = [each for each in responses if isinstance(each, dict)]
            for each in results:
                yield Returned(text_of(each, "id"), _result(each.get("response")))
            if not results:
                yield Prompted()
        case "gemini":
            calls = [each for each in listed(told, "toolCalls") if isinstance(each, dict)]
            for each in calls:
                yield _called(text_of(each, "id"), text_of(each, "name"), each.get("args"), _GEMINI_WAITS)
            if not calls:
                # Its calls are recorded when they have their results: until then this may be one.
                yield Spoke(Stage.UNKNOWN)
        case "info" | "error":
            yield Spoke(Stage.OVER)
        case _:
            return


def _ours(told: _Object) -> Iterator[Record]:
    name = text_of(told, "id")
    match text_of(told, "record"):
        case "called":
            words = words_of(text_of(told, "tool"), text_of(told, "words"))
            yield Called(name, fingerprint(text_of(told, "print")), words)
        case "returned":
            yield Returned(name, fingerprint(text_of(told, "print")))
        case "prompted":
            yield Prompted()
        case "spoke":
            yield Spoke(Stage.OVER if told.get("over") is True else Stage.MODEL)
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
    """Return the object that a line is, if one of these words is in it; else an empty one."""
    if len(line) > LINE or (wanted and not any(word in line for word in wanted)):
        return {}
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
