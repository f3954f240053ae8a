"""The sender where there is none: it refuses every message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.ports.sender import Message, SendOutcome, SendResult

if TYPE_CHECKING:
    from collections.abc import Sequence


class NullSender:
    """The port `Sender` without any channel."""

    def send(self, messages: Sequence[Message]) -> list[SendOutcome]:
        """Refuse them all."""
        return [SendOutcome(SendResult.REFUSED, "there is no channel") for _ in messages]

    def close(self) -> None:
        """Nothing is being sent."""
