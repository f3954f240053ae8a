"""What a dialect is: the API of one vendor, both ways. Each is a module of this shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from tests.clis.answers import Fault, Reply
from tests.clis.dialects import anthropic, chat, gemini, responses
from tests.clis.dialects.wire import Refusal
from tests.clis.model_request import Conversation, Json, ModelRequest


class Dialect(Protocol):
    """One API: how its requests are read, and how an answer is written in it. A path has no query."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a module's constant
        """What a recorded request is labelled with."""

    @property
    def PING(self) -> bytes:  # noqa: N802 - a module's constant
        """What a stream carries that is alive and has nothing to say."""

    def speaks(self, path: str) -> bool:
        """Say whether a request for this path wants an answer of the model."""

    def beside(self, method: str, path: str, raw: bytes) -> Json | None:
        """Return the answer to what is asked besides, or None if this API knows no such path."""

    def read(self, path: str, body: Json) -> Conversation:
        """Read a request into the common form."""

    def whole(self, reply: Reply, request: ModelRequest) -> Json:
        """Return a reply as one JSON value."""

    def frames(self, reply: Reply, request: ModelRequest) -> Iterator[bytes]:
        """Return a reply as server-sent events."""

    def refusal(self, fault: Fault) -> Refusal:
        """Return a fault in this API's words."""


DIALECTS: Final[tuple[Dialect, ...]] = (anthropic, responses, chat, gemini)


def speaking(path: str) -> Dialect | None:
    """Return the dialect that asks a model by this path."""
    return next((each for each in DIALECTS if each.speaks(path)), None)


def beside(method: str, path: str, raw: bytes) -> Json | None:
    """Return any dialect's answer to what is asked besides."""
    answers = (each.beside(method, path, raw) for each in DIALECTS)
    return next((each for each in answers if each is not None), None)
