"""What the dialects have in common on the wire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.clis.answers import Reply, Text
from tests.clis.model_request import Json, ModelRequest

COMMENT = b": keep-alive\n\n"
"""An event that is none, by which a stream is kept open."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A fault in a vendor's own words."""

    status: int
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)


def sse(data: Json, event: str = "") -> bytes:
    """Return one server-sent event."""
    named = f"event: {event}\n" if event else ""
    return f"{named}data: {json.dumps(data)}\n\n".encode()


def tokens_of(reply: Reply, request: ModelRequest) -> tuple[int, int]:
    """Return how many tokens went in and out: as the reply says, else one per four bytes."""
    if reply.tokens:
        return reply.tokens
    said = sum(len(part.text if isinstance(part, Text) else str(part.arguments)) for part in reply.parts)
    return max(1, len(request.raw) // 4), max(1, said // 4)


def as_json(arguments: Mapping[str, object] | str) -> str:
    """Return a tool's arguments as the text that a stream carries."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
