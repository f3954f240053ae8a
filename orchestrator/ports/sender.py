"""A sender: delivers messages to people, over channels that others run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model.notification import Channel


class Tone(StrEnum):
    """The tone of a message, for channels that can show one."""

    INFO = "info"
    SUCCESS = "success"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent over one channel. Title and body are plain text that the caller has made harmless.

    `about` holds the ids of the notifications in it.
    """

    channel: Channel
    title: str
    body: str
    tone: Tone = Tone.INFO
    about: tuple[str, ...] = ()


class SendResult(StrEnum):
    """What came of a message, as far as anyone can know (law 5)."""

    DELIVERED = "delivered"  # the channel took it
    REFUSED = "refused"  # it was certainly not delivered: it may be tried again
    UNKNOWN = "unknown"  # it may have been delivered


@dataclass(frozen=True, slots=True)
class SendOutcome:
    """What came of one message. `reason` is for people, and holds nothing of the channel's address."""

    result: SendResult
    reason: str = ""


class Sender(Protocol):
    """Sends messages. It raises nothing: what goes wrong is an outcome."""

    def send(self, messages: Sequence[Message]) -> list[SendOutcome]:
        """Send messages, all at once, and return an outcome for each, in their order.

        Returns within the sender's deadline. A channel that has not answered by then is UNKNOWN, and does not affect
        the others.
        """
        ...

    def close(self) -> None:
        """Stop sending, from another thread: `send` returns soon, and sends nothing afterwards."""
        ...
