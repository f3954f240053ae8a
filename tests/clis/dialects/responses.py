"""OpenAI's Responses API: what Codex speaks."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.clis.answers import Fault, Reply, Text, ToolCall, Trouble, pieces
from tests.clis.dialects import openai
from tests.clis.dialects.wire import COMMENT, Refusal, as_json, sse, tokens_of
from tests.clis.model_request import Conversation, Json, Message, ModelRequest, ToolResult

NAME = "responses"
PING = COMMENT


def speaks(path: str) -> bool:
    return path == "/v1/responses"


def beside(_method: str, _path: str, _raw: bytes) -> Json | None:
    return None


def read(_path: str, body: Json) -> Conversation:
    given = body.get("input", [])
    items: list[Json] = (
        [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else given
    )
    tools: list[Json] = body.get("tools", [])
    return Conversation(
        model=str(body.get("model", "")),
        messages=tuple(_message(each) for each in items),
        tools=frozenset(str(each.get("name") or each["type"]) for each in tools) | _spaced(body).keys(),
        free_form=frozenset(str(each["name"]) for each in tools if each["type"] == "custom"),
        streams=bool(body.get("stream")),
    )


def _spaced(body: Json) -> dict[str, Json]:
    """Return the tools of namespaces, such as those of MCP servers, by one name: how each is called."""
    return {
        f"{each['name']}__{inner['name']}": {"namespace": each["name"], "name": inner["name"]}
        for each in body.get("tools", [])
        if each["type"] == "namespace"
        for inner in each["tools"]
    }


def _message(item: Json) -> Message:
    match item.get("type", "message"):
        case "message":
            content = item["content"]
            texts = (
                (content,) if isinstance(content, str) else tuple(each.get("text", "") for each in content)
            )
            return Message(item["role"], texts)
        case "function_call":
            return Message("assistant", calls=(ToolCall(item["name"], _fields(item), item["call_id"]),))
        case "custom_tool_call":
            return Message("assistant", calls=(ToolCall(item["name"], item["input"], item["call_id"]),))
        case "function_call_output" | "custom_tool_call_output":
            return Message("tool", results=(ToolResult(item["call_id"], _output(item["output"])),))
        case other:
            return Message(other)


def _fields(item: Json) -> Json:
    read = json.loads(item["arguments"] or "{}")
    return read if isinstance(read, dict) else {}


def _output(output: object) -> str:
    if isinstance(output, list):
        return "\n".join(str(each.get("text", "")) for each in output)
    return output if isinstance(output, str) else json.dumps(output)


def whole(reply: Reply, request: ModelRequest) -> Json:
    items = [_item(part, request, place) for place, part in enumerate(reply.parts)]
    given, out = tokens_of(reply, request)
    return _response(request, "completed", items) | {
        "usage": {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": given + out,
        }
    }


def frames(reply: Reply, request: ModelRequest) -> Iterator[bytes]:
    begun = _response(request, "in_progress", [])
    reported = [("response.created", {"response": begun}), ("response.in_progress", {"response": begun})]
    for place, part in enumerate(reply.parts):
        reported += _part(part, _item(part, request, place), place, reply.cuts)
    reported.append(("response.completed", {"response": whole(reply, request)}))
    for number, (kind, fields) in enumerate(reported):
        yield sse({"type": kind, "sequence_number": number, **fields}, kind)


def _part(part: Text | ToolCall, item: Json, place: int, cuts: int) -> Iterator[tuple[str, Json]]:
    at = {"output_index": place, "item_id": item["id"]}
    yield "response.output_item.added", {"output_index": place, "item": _begun(item)}
    if isinstance(part, Text):
        at |= {"content_index": 0}
        empty = {"type": "output_text", "text": "", "annotations": []}
        yield "response.content_part.added", at | {"part": empty}
        for piece in pieces(part.text, cuts):
            yield "response.output_text.delta", at | {"delta": piece}
        yield "response.output_text.done", at | {"text": part.text}
        yield "response.content_part.done", at | {"part": item["content"][0]}
    else:
        whole_text = as_json(part.arguments)
        name, field = ("custom_tool_call_input", "input")
        if item["type"] == "function_call":
            name, field = ("function_call_arguments", "arguments")
        for piece in pieces(whole_text, cuts):
            yield f"response.{name}.delta", at | {"delta": piece}
        yield f"response.{name}.done", at | {field: whole_text}
    yield "response.output_item.done", {"output_index": place, "item": item}


def _item(part: Text | ToolCall, request: ModelRequest, place: int) -> Json:
    name = f"{request.number:06}_{place}"
    if isinstance(part, Text):
        content = [{"type": "output_text", "text": part.text, "annotations": []}]
        fields = {"type": "message", "role": "assistant", "status": "completed", "content": content}
        return {"id": f"msg_{name}", **fields}
    called = _spaced(request.body).get(part.name, {"name": part.name})
    fields = {"status": "completed", "call_id": f"call_{name}", **called}
    if part.name in request.conversation.free_form:
        return {"id": f"ctc_{name}", "type": "custom_tool_call", "input": as_json(part.arguments), **fields}
    return {"id": f"fc_{name}", "type": "function_call", "arguments": as_json(part.arguments), **fields}


def _begun(item: Json) -> Json:
    empty: Json = {"content": []} if item["type"] == "message" else {}
    empty |= {field: "" for field in ("arguments", "input") if field in item}
    return item | empty | {"status": "in_progress"}


def _response(request: ModelRequest, status: str, items: list[Json]) -> Json:
    return {
        "id": f"resp_{request.number:06}",
        "object": "response",
        "created_at": int(request.at),
        "status": status,
        "model": request.conversation.model,
        "output": items,
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": True,
        "usage": None,
    }


def refusal(fault: Fault) -> Refusal:
    if fault.trouble is not Trouble.USAGE_LIMIT:
        return openai.refusal(fault)
    reported = {
        "type": "usage_limit_reached",
        "message": "The usage limit has been reached",
        "plan_type": "plus",
    }
    return Refusal(429, {"error": {**reported, "resets_at": int(fault.resets_at)}})
