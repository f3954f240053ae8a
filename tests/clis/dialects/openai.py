"""What OpenAI's two APIs have in common: how they refuse, and which models there are."""

from __future__ import annotations

from tests.clis.answers import Fault, Trouble
from tests.clis.dialects.wire import Refusal
from tests.clis.model_request import Json

MODELS = ("gpt-5.1", "gpt-5.1-codex")

_REFUSALS = {
    Trouble.RATE_LIMITED: (
        429,
        "tokens",
        "rate_limit_exceeded",
        "Rate limit reached on tokens per min (TPM).",
    ),
    Trouble.USAGE_LIMIT: (
        429,
        "tokens",
        "rate_limit_exceeded",
        "Rate limit reached on tokens per day (TPD).",
    ),
    Trouble.OVERLOADED: (
        503,
        "server_error",
        "server_is_overloaded",
        "The server is overloaded or not ready yet.",
    ),
    Trouble.SERVER_ERROR: (
        500,
        "server_error",
        None,
        "The server had an error while processing your request.",
    ),
    Trouble.UNAUTHORIZED: (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    Trouble.CREDIT_GONE: (
        429,
        "insufficient_quota",
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    Trouble.TOO_LONG: (
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ),
}


def models() -> Json:
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "owned_by": "openai"} for name in MODELS],
    }


def refusal(fault: Fault) -> Refusal:
    status, kind, code, message = _REFUSALS[fault.trouble]
    if fault.retry_after is not None:
        message += f" Please try again in {fault.retry_after:g}s."
    return Refusal(status, {"error": {"message": message, "type": kind, "param": None, "code": code}})
