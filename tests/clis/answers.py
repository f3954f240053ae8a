"""What a script can answer to a request of an agent CLI: parts, a fault, or silence. The same for every dialect."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto


@dataclass(frozen=True, slots=True)
class Text:
    """Something that the model says."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants used. `arguments` is the one text that a free-form tool takes, or its fields."""

    name: str
    arguments: Mapping[str, object] | str
    call_id: str = ""


Part = Text | ToolCall


class Then(Enum):
    """How a streamed reply goes on once half of it is out."""

    END = auto()
    HANG = auto()
    PING = auto()  # it hangs, but for the signs of life of which no word is part
    DROP = auto()


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says and wants done. `after` is waited before the headers, `pace` before each event: seconds.

    `tokens` is (in, out) as the usage says it; None counts a token per four bytes. Each part is streamed in `cuts`
    pieces.
    """

    parts: tuple[Part, ...]
    after: float = 0.0
    pace: float = 0.0
    then: Then = Then.END
    tokens: tuple[int, int] | None = None
    cuts: int = 4


class Trouble(Enum):
    """What a vendor's API refuses a request for; each dialect has its own status and words for it."""

    RATE_LIMITED = auto()
    USAGE_LIMIT = auto()
    OVERLOADED = auto()
    SERVER_ERROR = auto()
    UNAUTHORIZED = auto()
    CREDIT_GONE = auto()
    TOO_LONG = auto()


@dataclass(frozen=True, slots=True)
class Fault:
    """A refusal. `retry_after` is in seconds; `headers` are sent besides.

    `resets_at` (seconds since the epoch) is when a usage limit is said to end, `window` which one it is: `five_hour` or
    `seven_day`.
    """

    trouble: Trouble
    retry_after: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    resets_at: float = 0.0
    window: str = "five_hour"


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing at all, not even headers, for as long as the server lives."""


Answer = Reply | Fault | Hang


def used_up(resets_at: float) -> Fault:
    """Return a refusal that lasts until a moment, in seconds since the epoch."""
    left = max(float(int(resets_at - time.time())), 0.0)
    return Fault(Trouble.USAGE_LIMIT, left, resets_at=resets_at)


def say(text: str) -> Reply:
    """Return a reply that ends the turn with a text."""
    return Reply((Text(text),))


def call(name: str, **arguments: object) -> Reply:
    """Return a reply that wants one tool used."""
    return Reply((ToolCall(name, arguments),))


def pieces(text: str, count: int) -> list[str]:
    """Cut a text into at most `count` pieces, as a stream would; nothing is lost, an empty text is one piece."""
    size = max(1, -(-len(text) // count))
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]
