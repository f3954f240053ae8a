"""A teller where there is none: every message is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.ports.sender import Message, SendOutcome, SendResult

if TYPE_CHECKING:
    from collections.abc import Sequence


class NullSender:
    """The port `Sender`, with no way out."""

    def send(self, messages: Sequence[Message]) -> list[SendOutcome]:
        """Refuse them all."""
        return [SendOutcome(SendResult.REFUSED, "there is nobody to tell it") for _ in messages]

    def close(self) -> None:
        """Nothing is being sent."""
