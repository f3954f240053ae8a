"""Anthropic's Messages API: what Claude Code speaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.clis.answers import Fault, Reply, Text, ToolCall, Trouble, pieces
from tests.clis.dialects.wire import Refusal, sse, tokens_of
from tests.clis.model_request import Conversation, Json, Message, ModelRequest, ToolResult

NAME = "anthropic"
PING = sse({"type": "ping"}, "ping")
MODELS = ("claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5")

_REFUSALS = {
    Trouble.RATE_LIMITED: (429, "rate_limit_error", "This request would exceed your account's rate limit."),
    Trouble.USAGE_LIMIT: (429, "rate_limit_error", "This request would exceed your account's rate limit."),
    Trouble.OVERLOADED: (529, "overloaded_error", "Overloaded"),
    Trouble.SERVER_ERROR: (500, "api_error", "Internal server error"),
    Trouble.UNAUTHORIZED: (401, "authentication_error", "invalid x-api-key"),
    Trouble.CREDIT_GONE: (
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.",
    ),
    Trouble.TOO_LONG: (400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
}


def speaks(path: str) -> bool:
    return path == "/v1/messages"


def beside(method: str, path: str, raw: bytes) -> Json | None:
    """Answer what is asked besides: the count of tokens, the models."""
    if path == "/v1/messages/count_tokens":
        return {"input_tokens": len(raw) // 4}
    if method == "GET" and path == "/v1/models":
        return {"data": [_model(name) for name in MODELS], "has_more": False}
    if method == "GET" and path.startswith("/v1/models/"):
        return _model(path.removeprefix("/v1/models/"))
    return None


def _model(name: str) -> Json:
    return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}


def read(_path: str, body: Json) -> Conversation:
    return Conversation(
        model=str(body.get("model", "")),
        messages=tuple(_message(each) for each in body.get("messages", [])),
        tools=frozenset(str(each["name"]) for each in body.get("tools", [])),
        streams=bool(body.get("stream")),
    )


def _message(found: Json) -> Message:
    content = found["content"]
    blocks: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return Message(
        found["role"],
        tuple(each["text"] for each in blocks if each["type"] == "text"),
        tuple(
            ToolCall(each["name"], each["input"], each["id"]) for each in blocks if each["type"] == "tool_use"
        ),
        tuple(
            ToolResult(each["tool_use_id"], _text(each.get("content", "")))
            for each in blocks
            if each["type"] == "tool_result"
        ),
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(each.get("text", "") for each in content)


def whole(reply: Reply, request: ModelRequest) -> Json:
    return _head(reply, request) | {
        "content": [_block(part, request, place) for place, part in enumerate(reply.parts)],
        "stop_reason": _why(reply),
    }


def frames(reply: Reply, request: ModelRequest) -> Iterator[bytes]:
    yield _event("message_start", message=_head(reply, request))
    for place, part in enumerate(reply.parts):
        block = _block(part, request, place)
        if isinstance(part, Text):
            yield _event("content_block_start", index=place, content_block=block | {"text": ""})
            for piece in pieces(part.text, reply.cuts):
                yield _event("content_block_delta", index=place, delta={"type": "text_delta", "text": piece})
        else:
            yield _event("content_block_start", index=place, content_block=block | {"input": {}})
            for piece in pieces(json.dumps(block["input"]), reply.cuts):
                delta = {"type": "input_json_delta", "partial_json": piece}
                yield _event("content_block_delta", index=place, delta=delta)
        yield _event("content_block_stop", index=place)
    _, out = tokens_of(reply, request)
    ending = {"stop_reason": _why(reply), "stop_sequence": None}
    yield _event("message_delta", delta=ending, usage={"output_tokens": out})
    yield _event("message_stop")


def _event(kind: str, **fields: object) -> bytes:
    return sse({"type": kind, **fields}, kind)


def _head(reply: Reply, request: ModelRequest) -> Json:
    given, out = tokens_of(reply, request)
    return {
        "id": f"msg_{request.number:06}",
        "type": "message",
        "role": "assistant",
        "model": request.conversation.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": given,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": out,
        },
    }


def _block(part: Text | ToolCall, request: ModelRequest, place: int) -> Json:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    call_id = f"toolu_{request.number:06}_{place}"
    return {"type": "tool_use", "id": call_id, "name": part.name, "input": part.arguments}


def _why(reply: Reply) -> str:
    return "tool_use" if any(isinstance(part, ToolCall) for part in reply.parts) else "end_turn"


def refusal(fault: Fault) -> Refusal:
    status, kind, message = _REFUSALS[fault.trouble]
    headers = _limit(fault) if fault.trouble is Trouble.USAGE_LIMIT else {}
    return Refusal(status, {"type": "error", "error": {"type": kind, "message": message}}, headers)


def _limit(fault: Fault) -> dict[str, str]:
    """Return how a subscription's limit is told: Claude Code heeds it where it is logged in by a token."""
    found = {"status": "rejected", "reset": str(int(fault.resets_at)), "representative-claim": fault.window}
    return {f"anthropic-ratelimit-unified-{name}": value for name, value in found.items()}
