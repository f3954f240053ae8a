"""Google's generateContent API: what Gemini CLI speaks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tests.clis.answers import Fault, Part, Reply, Text, ToolCall, Trouble, pieces
from tests.clis.dialects.wire import COMMENT, Refusal, sse, tokens_of
from tests.clis.model_request import Conversation, Json, Message, ModelRequest, ToolResult

NAME = "gemini"
PING = COMMENT
MODELS = ("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite")

_PATH = re.compile(r"/v1(?:beta|alpha)?/models/(?P<model>[^:/]+):(?P<verb>\w+)")
_REFUSALS = {
    Trouble.RATE_LIMITED: (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    Trouble.USAGE_LIMIT: (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    Trouble.OVERLOADED: (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    Trouble.SERVER_ERROR: (500, "INTERNAL", "An internal error has occurred. Please retry."),
    Trouble.UNAUTHORIZED: (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    Trouble.CREDIT_GONE: (403, "PERMISSION_DENIED", "This API method requires billing to be enabled."),
    Trouble.TOO_LONG: (
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
}
_REASONS = {
    Trouble.UNAUTHORIZED: "API_KEY_INVALID",
    Trouble.CREDIT_GONE: "BILLING_DISABLED",
    Trouble.RATE_LIMITED: "RATE_LIMIT_EXCEEDED",
}


def _verb(path: str) -> str:
    found = _PATH.match(path)
    return found["verb"] if found else ""


def speaks(path: str) -> bool:
    return _verb(path) in {"generateContent", "streamGenerateContent"}


def beside(method: str, path: str, raw: bytes) -> Json | None:
    """Answer what is asked besides: the count of tokens, the models."""
    if _verb(path) == "countTokens":
        return {"totalTokens": len(raw) // 4}
    if method == "GET" and path == "/v1beta/models":
        return {"models": [{"name": f"models/{name}", "displayName": name} for name in MODELS]}
    return None


def read(path: str, body: Json) -> Conversation:
    found = _PATH.match(path)
    declared = [each for tool in body.get("tools", []) for each in tool.get("functionDeclarations", [])]
    return Conversation(
        model=found["model"] if found else "",
        messages=tuple(_message(each) for each in body.get("contents", [])),
        tools=frozenset(str(each["name"]) for each in declared),
        streams=_verb(path) == "streamGenerateContent",
    )


def _message(reported: Json) -> Message:
    parts: list[Json] = reported.get("parts", [])
    return Message(
        "assistant" if reported.get("role") == "model" else "user",
        tuple(each["text"] for each in parts if "text" in each and not each.get("thought")),
        tuple(
            ToolCall(each["functionCall"]["name"], each["functionCall"].get("args", {}))
            for each in parts
            if "functionCall" in each
        ),
        tuple(_result(each["functionResponse"]) for each in parts if "functionResponse" in each),
    )


def _result(reported: Json) -> ToolResult:
    response = reported.get("response", {})
    text = response.get("output") or response.get("error") or json.dumps(response)
    return ToolResult(str(reported.get("id", "")), str(text))


def whole(reply: Reply, request: ModelRequest) -> Json:
    return _response(reply, request, list(reply.parts), ends=True)


def frames(reply: Reply, request: ModelRequest) -> Iterator[bytes]:
    for part in reply.parts:
        if isinstance(part, Text):
            for piece in pieces(part.text, reply.cuts):
                yield sse(_response(reply, request, [Text(piece)], ends=False))
        else:
            yield sse(_response(reply, request, [part], ends=False))
    yield sse(_response(reply, request, [], ends=True))


def _response(reply: Reply, request: ModelRequest, parts: list[Part], *, ends: bool) -> Json:
    reported = [_part(part, request, place) for place, part in enumerate(parts)] or [{"text": ""}]
    candidate: Json = {"index": 0, "content": {"role": "model", "parts": reported}}
    if ends:
        candidate["finishReason"] = "STOP"
    given, out = tokens_of(reply, request)
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": given,
            "candidatesTokenCount": out,
            "totalTokenCount": given + out,
        },
        "modelVersion": request.conversation.model,
        "responseId": f"response_{request.number:06}",
    }


def _part(part: Part, request: ModelRequest, place: int) -> Json:
    if isinstance(part, Text):
        return {"text": part.text}
    return {
        "functionCall": {"id": f"call_{request.number:06}_{place}", "name": part.name, "args": part.arguments}
    }


def refusal(fault: Fault) -> Refusal:
    status, name, message = _REFUSALS[fault.trouble]
    details: list[Json] = []
    if fault.trouble in _REASONS:
        info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "domain": "googleapis.com"}
        details.append(info | {"reason": _REASONS[fault.trouble]})
    if fault.trouble is Trouble.USAGE_LIMIT:
        kind = "type.googleapis.com/google.rpc.QuotaFailure"
        details.append(
            {"@type": kind, "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]}
        )
    if fault.retry_after is not None:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        details.append({"@type": kind, "retryDelay": f"{fault.retry_after:g}s"})
    return Refusal(
        status, {"error": {"code": status, "message": message, "status": name, "details": details}}
    )
