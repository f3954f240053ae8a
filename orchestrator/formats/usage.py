"""Reads the tokens and the money that agent programs used from their transcripts. No foreign input makes it raise.

| program | where | what counts |
|---|---|---|
| Claude Code | session JSONL | `message.usage` of each assistant line, each `message.id` once; `cost-state` the cost |
| Codex | rollout JSONL | the last `token_count` event, which holds sums; `turn_context` names the model |
| Gemini CLI | session JSONL | `tokens` of each `gemini` line, each `id` once (0.61 writes a line again when it grows) |
| opencode | `session.updated` event, its plugin | its `tokens` and `cost`, which are sums |
| aider | its history | `Tokens: 2.1k sent, 300 received. Cost: $0.01 message, …` of each message |

The records of Claude, Gemini and Codex are read on from the offset of the last read: only complete lines count, so a
torn last line is read next time. A sum never decreases. A cost that a program reports covers the tokens before it; the
tokens after it are kept by model, for pricing [pricing.py]. A cost of 0 for tokens means that the program knows no
price.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from orchestrator.model.usage import Read, Tokens, Usage, added

MOST: Final = 10**15
"""More tokens than any program used; a larger number is not believed."""

REMEMBERED: Final = 1000
"""How many message ids a reader remembers: a repeated message follows within a few lines."""

_LINE: Final = 16_777_216
_MODELS: Final = 20
_NAME: Final = 200
_DEAREST: Final = 1e9
_Object = dict[str, Any]
_Step = Callable[[Read, _Object], Read]


def claude_usage(appended: bytes, before: Read = Read()) -> Read:  # noqa: B008 (it is frozen)
    """Return what a session of Claude Code used, given the bytes from `before.offset` on. Never raises.

    Lines of its subagents count too; the context is that of its own last message. A `cost-state` line comes when the
    program ends and holds the cost of all its resumed runs; so the cost of a running session lags behind.
    """
    return _read(appended, before, _claude)


def codex_usage(appended: bytes, before: Read = Read()) -> Read:  # noqa: B008 (it is frozen)
    """Return what a session of Codex used, given the bytes of its rollout from `before.offset` on. Never raises."""
    return _read(appended, before, _codex)


def gemini_usage(appended: bytes, before: Read = Read()) -> Read:  # noqa: B008 (it is frozen)
    """Return what a session of Gemini CLI used, given the bytes from `before.offset` on. Never raises."""
    return _read(appended, before, _gemini)


def opencode_usage(event: bytes, before: Usage = Usage()) -> Usage:  # noqa: B008 (it is frozen)
    """Return what a session of opencode used after one of its events; `before` if the event has no usage. Never raises.

    Tokens written to a cache count as input, as with the other programs.
    """
    loaded = _loaded(event)
    info = _inner(loaded, "properties", "info")
    tokens = _inner(info, "tokens")
    if not isinstance(loaded.get("type"), str) or loaded["type"] != "session.updated" or not tokens:
        return before
    cached, written = _count(_inner(tokens, "cache"), "read"), _count(_inner(tokens, "cache"), "write")
    return before.at_least(
        Usage(
            _count(tokens, "input") + cached + written,
            _count(tokens, "output") + _count(tokens, "reasoning"),
            cached,
            _money(info.get("cost")),
        ),
    )


def script_usage(event: Mapping[str, Any]) -> Usage | None:
    """Return the `usage` in an event of one of our own scripts; None if there is none.

    `models` are the tokens whose cost the event does not give, by model if known.
    """
    found = event.get("usage")
    if not isinstance(found, dict):
        return None
    given, made = _count(found, "input"), _count(found, "output")
    if not (given or made):
        return None
    cached, context, cost = (
        _count(found, "cached"),
        _count(found, "context"),
        _money(found.get("cost")) or None,
    )
    models = _uncovered(found) or (() if cost else (("", Tokens(given, made, cached)),))
    return Usage(given, made, cached, cost, context or None, models=models)


def _uncovered(usage: _Object) -> tuple[tuple[str, Tokens], ...]:
    listed = usage.get("models")
    found = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return tuple((_named(each), _tokens_of(each)) for each in found[:_MODELS])


def _tokens_of(model: _Object) -> Tokens:
    return Tokens(*(_count(model, name) for name in ("input", "output", "cached", "written")))


def _named(record: _Object, key: str = "model") -> str:
    """Return the name of a model; empty if there is none."""
    name = record.get(key)
    return name[:_NAME] if isinstance(name, str) else ""


_AIDERS_MODEL: Final = re.compile(r"> (?:Main model|Model): (\S{1,200}) ")
_AIDERS: Final = re.compile(
    r"> Tokens: ([0-9.]{1,12})([kM]?) sent,.{0,60}? ([0-9.]{1,12})([kM]?) received\."
    r"(?: Cost: \$([0-9.]{1,12}) message,)?"
)
_SIZES: Final = {"": 1, "k": 1000, "M": 1_000_000}


def aider_usage(lines: str) -> Usage | None:
    """Return the usage in aider's history, one line per message: rounded, because aider rounds it."""
    used, any_, model = Usage(), False, ""
    for line in lines.splitlines():
        if named := _AIDERS_MODEL.match(line):
            model = named[1]
        if found := _AIDERS.match(line):
            given, made = _rounded(found[1], found[2]), _rounded(found[3], found[4])
            cost = None if found[5] is None else _money(_number(found[5]))
            models = ((model, Tokens(given, made)),) if cost is None else ()
            used, any_ = used + Usage(given, made, 0, cost, given or None, models=models), True
    return used if any_ else None


def _rounded(digits: str, size: str) -> int:
    count = (_number(digits) or 0.0) * _SIZES[size]
    return round(count) if count <= MOST else 0


def _number(digits: str) -> float | None:
    try:
        return float(digits)
    except ValueError:
        return None


# -------------------------------------------------------------------------------------------------


def _claude(read: Read, line: _Object) -> Read:
    if line.get("type") == "cost-state":
        cost = _money(line.get("totalCostUSD"))
        models = read.usage.models if cost is None else ()
        return replace(read, usage=read.usage.at_least(replace(read.usage, cost=cost, models=models)))
    message = _inner(line, "message")
    usage, name = _inner(message, "usage"), message.get("id")
    if line.get("type") != "assistant" or not usage or not isinstance(name, str):
        return read
    cached, written = _count(usage, "cache_read_input_tokens"), _count(usage, "cache_creation_input_tokens")
    given, made = _count(usage, "input_tokens") + cached + written, _count(usage, "output_tokens")
    kept = min(_count(_inner(usage, "cache_creation"), "ephemeral_1h_input_tokens"), written)
    own = line.get("isSidechain") is not True and given > 0
    tokens = Tokens(given, made, cached, written - kept, kept)
    models = ((_named(message), tokens),) if tokens != Tokens() else ()
    return _once(read, name, Usage(given, made, cached, None, given if own else None, models=models))


def _codex(read: Read, line: _Object) -> Read:
    payload = _inner(line, "payload")
    if line.get("type") == "turn_context":
        return replace(read, model=_named(payload) or read.model)
    if line.get("type") != "event_msg" or payload.get("type") != "token_count":
        return read
    info = _inner(payload, "info")
    total, last = _inner(info, "total_token_usage"), _inner(info, "last_token_usage")
    usage = Usage(
        _count(total, "input_tokens"),
        _count(total, "output_tokens"),
        _count(total, "cached_input_tokens"),
        None,
        _count(last, "input_tokens") or None,
        _count(info, "model_context_window") or None,
    )
    grown = usage.since(read.usage)
    written = min(_count(last, "cache_write_input_tokens"), grown.input)
    tokens = Tokens(grown.input, grown.output, grown.cached, written)
    more = ((read.model, tokens),) if tokens != Tokens() else ()
    usage = read.usage.at_least(replace(usage, models=added(read.usage.models, more)))
    return replace(read, usage=usage)


def _gemini(read: Read, line: _Object) -> Read:
    tokens, name = _inner(line, "tokens"), line.get("id")
    if line.get("type") != "gemini" or not tokens or not isinstance(name, str):
        return read
    given = _count(tokens, "input") + _count(tokens, "tool")
    made = _count(tokens, "output") + _count(tokens, "thoughts")
    cached = _count(tokens, "cached")
    models = ((_named(line), Tokens(given, made, cached)),) if given or made else ()
    return _once(read, name, Usage(given, made, cached, None, given or None, models=models))


def _once(read: Read, name: str, used: Usage) -> Read:
    if name in read.seen:
        return read
    return replace(read, usage=_bounded(read.usage + used), seen=(*read.seen, name)[-REMEMBERED:])


def _bounded(usage: Usage) -> Usage:
    return replace(
        usage, input=min(usage.input, MOST), output=min(usage.output, MOST), cached=min(usage.cached, MOST)
    )


def _read(appended: bytes, before: Read, step: _Step) -> Read:
    """Return the usage after all complete lines."""
    end = appended.rfind(b"\n") + 1
    read = before
    for line in _lines(appended[:end]):
        usage = _loaded(line)
        if usage:
            read = step(read, usage)
    return replace(read, offset=before.offset + end)


def _lines(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if end - at <= _LINE:
            yield data[at:end]
        at = end + 1


def _loaded(line: bytes) -> _Object:
    """Return the object in a line of JSON; empty if there is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _inner(value: _Object, *names: str) -> _Object:
    for name in names:
        found = value.get(name)
        if not isinstance(found, dict):
            return {}
        value = found
    return value


def _count(record: _Object, name: str) -> int:
    """Return a number of tokens; 0 if the field is not one."""
    found = record.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= MOST else 0


def _money(found: object) -> float | None:
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return float(found) if 0 <= found <= _DEAREST and math.isfinite(found) else None
