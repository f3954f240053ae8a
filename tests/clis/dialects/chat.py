"""OpenAI's Chat Completions API: what opencode and aider speak to a provider that is told by its address."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.clis.answers import Fault, Reply, Text, ToolCall, pieces
from tests.clis.dialects import openai
from tests.clis.dialects.wire import COMMENT, Refusal, as_json, sse, tokens_of
from tests.clis.model_request import Conversation, Json, Message, ModelRequest, ToolResult

NAME = "chat"
PING = COMMENT


def speaks(path: str) -> bool:
    return path == "/v1/chat/completions"


def beside(method: str, path: str, _raw: bytes) -> Json | None:
    return openai.models() if method == "GET" and path == "/v1/models" else None


def read(_path: str, body: Json) -> Conversation:
    tools: list[Json] = body.get("tools") or []
    return Conversation(
        model=str(body.get("model", "")),
        messages=tuple(_message(each) for each in body.get("messages", [])),
        tools=frozenset(str(each["function"]["name"]) for each in tools),
        streams=bool(body.get("stream")),
    )


def _message(reported: Json) -> Message:
    content = reported.get("content") or ""
    texts = (content,) if isinstance(content, str) else tuple(each.get("text", "") for each in content)
    if reported["role"] == "tool":
        return Message("tool", results=(ToolResult(reported["tool_call_id"], "\n".join(texts)),))
    calls = tuple(
        ToolCall(each["function"]["name"], json.loads(each["function"]["arguments"] or "{}"), each["id"])
        for each in reported.get("tool_calls") or []
    )
    return Message(reported["role"], texts, calls)


def whole(reply: Reply, request: ModelRequest) -> Json:
    message: Json = {"role": "assistant", "content": _said(reply) or None}
    if calls := _calls(reply, request):
        message["tool_calls"] = [{key: each[key] for key in ("id", "type", "function")} for each in calls]
    choice = {"index": 0, "message": message, "finish_reason": _why(reply), "logprobs": None}
    return _head(request, "chat.completion") | {"choices": [choice], "usage": _usage(reply, request)}


def frames(reply: Reply, request: ModelRequest) -> Iterator[bytes]:
    yield _chunk(request, {"role": "assistant", "content": ""})
    for piece in pieces(_said(reply), reply.cuts):
        yield _chunk(request, {"content": piece})
    for each in _calls(reply, request):
        function = each["function"]
        yield _chunk(request, {"tool_calls": [each | {"function": function | {"arguments": ""}}]})
        for piece in pieces(function["arguments"], reply.cuts):
            yield _chunk(
                request, {"tool_calls": [{"index": each["index"], "function": {"arguments": piece}}]}
            )
    yield _chunk(request, {}, _why(reply))
    yield sse(_head(request, "chat.completion.chunk") | {"choices": [], "usage": _usage(reply, request)})
    yield b"data: [DONE]\n\n"


def _said(reply: Reply) -> str:
    return "".join(part.text for part in reply.parts if isinstance(part, Text))


def _calls(reply: Reply, request: ModelRequest) -> list[Json]:
    wanted = [part for part in reply.parts if isinstance(part, ToolCall)]
    return [
        {
            "index": place,
            "id": f"call_{request.number:06}_{place}",
            "type": "function",
            "function": {"name": part.name, "arguments": as_json(part.arguments)},
        }
        for place, part in enumerate(wanted)
    ]


def _why(reply: Reply) -> str:
    return "tool_calls" if any(isinstance(part, ToolCall) for part in reply.parts) else "stop"


def _chunk(request: ModelRequest, delta: Json, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return sse(_head(request, "chat.completion.chunk") | {"choices": [choice]})


def _head(request: ModelRequest, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{request.number:06}",
        "object": kind,
        "created": int(request.at),
        "model": request.conversation.model,
    }


def _usage(reply: Reply, request: ModelRequest) -> Json:
    given, out = tokens_of(reply, request)
    return {"prompt_tokens": given, "completion_tokens": out, "total_tokens": given + out}


def refusal(fault: Fault) -> Refusal:
    return openai.refusal(fault)
