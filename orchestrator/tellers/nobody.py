"""A teller where there is none: every message is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.ports.teller import Answer, Message, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence


class Nobody:
    """The port `Teller`, with no way out."""

    def send(self, messages: Sequence[Message]) -> list[Outcome]:
        """Refuse them all."""
        return [Outcome(Answer.REFUSED, "there is nobody to tell it") for _ in messages]

    def close(self) -> None:
        """Nothing is being sent."""
