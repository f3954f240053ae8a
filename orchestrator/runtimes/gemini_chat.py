"""What the chat file of a Gemini session tells that no hook does, and what a hook tells twice.

One JSON object per line. A line of the type `error` says that the model's service failed, one of the type `info` that
somebody broke the turn off; both are told by the hook at a turn's end as if all were well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from orchestrator.formats.json_fields import text_of
from orchestrator.formats.strict_json import load_json
from orchestrator.model.errors import BadFile
from orchestrator.model.event import Event, EventKind, Failure

LINE: Final = 1_048_576
"""The most bytes of a line that is read: the lines that count here are short."""

SAID: Final = 40_000
"""The most characters that a repetition is looked for in: the time grows faster than the text."""

_COUNT: Final = (b'"error"', b'"info"')
_FAILED: Final = "[API Error"
_BROKEN_OFF: Final = "Request cancelled."
_CODE: Final = re.compile(r'"code"\s*:\s*(\d{3})')
_PHRASES: Final = (
    (Failure.CONTEXT, ("exceeds the maximum number of tokens",)),
    (Failure.CREDIT, ("billing", "insufficient credit", "prepayment credits")),
    (
        Failure.LOGIN,
        ("api key not valid", "api_key_invalid", "api key expired", "unauthenticated", "please reauth"),
    ),
    (Failure.LIMIT, ("resource_exhausted", "quota", "usage limit", "rate limit")),
    (
        Failure.OVERLOAD,
        ("unavailable", "overloaded", "terminated", "fetch failed", "econn", "empty response"),
    ),
)
"""What an error says, the surest first: a refusal for want of billing may speak of a quota too."""

_CODES: Final = {401: Failure.LOGIN, 402: Failure.CREDIT, 403: Failure.LOGIN, 429: Failure.LIMIT}
_SERVER_ERROR: Final = 500


def events_of(lines: Sequence[bytes]) -> list[Event]:
    """Return what new whole lines mean, in their order."""
    return list(_events(lines))


def _events(lines: Sequence[bytes]) -> Iterator[Event]:
    for line in lines:
        if not any(kind in line for kind in _COUNT):
            continue
        try:
            read = load_json(line, "a chat", LINE)
        except BadFile:
            continue
        if not isinstance(read, dict):
            continue
        said = text_of(read, "content")
        match text_of(read, "type"):
            case "error" if said.startswith(_FAILED):
                yield Event(EventKind.FAILED, text=said, failure=_failure(said))
            case "info" if said.startswith(_BROKEN_OFF):
                yield Event(EventKind.ABORTED, text=said)
            case _:
                pass


def _failure(said: str) -> Failure:
    small = said.lower()
    for failure, phrases in _PHRASES:
        if any(phrase in small for phrase in phrases):
            return failure
    code = int(found[1]) if (found := _CODE.search(said)) else 0
    return _CODES.get(code) or (Failure.OVERLOAD if code >= _SERVER_ERROR else Failure.OTHER)


def said_once(text: str) -> str:
    """Return what was said last without its repetition; a text of more than `SAID` characters as it is.

    Its pieces come again behind the whole, all but the first, each after a space (measured): "I made it. ade  it . "
    """
    line = text.rstrip(" ")
    if len(line) > SAID:
        return line
    solid = line.replace(" ", "")
    ahead = 0  # of the solid text, how much lies ahead of `end`
    for end, character in enumerate(line):
        if character != " ":
            ahead += 1
        elif line[end - 1] == line[-1] and solid[:ahead].endswith(solid[ahead:]):
            return line[:end]
    return line
