"""A teller: brings a message to a person, over a channel that others run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model.notification import Channel


class Tone(StrEnum):
    """How a message sounds, where a channel can show that."""

    INFO = "info"
    SUCCESS = "success"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Message:
    """What is to be told over one channel. Title and body are plain text, made harmless by the caller.

    `about` are the ids of the news in it.
    """

    channel: Channel
    title: str
    body: str
    tone: Tone = Tone.INFO
    about: tuple[str, ...] = ()


class SendResult(StrEnum):
    """What became of a message, as far as can be known (law 5)."""

    TOLD = "told"  # the channel took it
    REFUSED = "refused"  # it was not delivered, for certain: may be tried again
    UNKNOWN = "unknown"  # it may have been delivered


@dataclass(frozen=True, slots=True)
class SendOutcome:
    """The answer to one message. `reason` is for people and holds nothing of the channel's address."""

    answer: SendResult
    reason: str = ""


class Sender(Protocol):
    """Tells. It raises nothing: what goes wrong is an outcome."""

    def send(self, messages: Sequence[Message]) -> list[SendOutcome]:
        """Send messages, all at once, and return an outcome for each, in their order.

        Returns within the teller's deadline: a channel that has not answered by then is UNKNOWN, and does not
        touch the others.
        """
        ...

    def close(self) -> None:
        """End what is being sent, from another thread: `send` returns soon. Nothing is sent afterwards."""
        ...
