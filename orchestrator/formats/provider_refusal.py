"""Why a model's service refused, by what it says: services word it alike, whichever program passes it on."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.model.event import Failure

_PASSES: Final = re.compile(r"\b(?:re)?try (?:again )?in\b", re.IGNORECASE)
"""Some say of a limit by the minute what others say of an account without money."""
_WORDS: Final = {
    Failure.CONTEXT: (
        "context window",
        "context length",
        "context_length",
        "prompt is too long",
        "token limit",
        "too many tokens",
    ),
    Failure.CREDIT: (
        "exceeded your current quota",
        "insufficient_quota",
        "billing",
        "credit balance",
        "out of credit",
    ),
    Failure.LIMIT: ("rate limit", "usage limit", "too many requests", "quota"),
    Failure.LOGIN: ("api key", "unauthorized", "authenticat", "logged in"),
    Failure.OVERLOAD: ("overloaded", "service unavailable", "bad gateway"),
}


def refusal(text: str) -> Failure | None:
    """Return what kind of failure a service's words tell of; None where they tell nothing."""
    lowered = text.lower()
    kind = next((kind for kind, words in _WORDS.items() if any(word in lowered for word in words)), None)
    return Failure.LIMIT if kind is Failure.CREDIT and _PASSES.search(text) else kind
