"""A sender in memory, by the port `Sender`: a test says what channels do, and sees what they were given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from orchestrator.ports.sender import Message, SendOutcome, SendResult


def _takes_it(_: Message) -> SendOutcome:
    return SendOutcome(SendResult.DELIVERED)


@dataclass(slots=True)
class FakeSender:
    """The port `Sender`, in memory.

    `answer` says what a channel says to a message. `before` and `after` are called around each message, with its
    channel's name, and may raise (a BaseException too) to kill the caller there: before it is heard, or before
    its answer is. `heard` are the messages that reached a person, whatever the answer was.
    """

    answer: Callable[[Message], SendOutcome] = _takes_it
    before: Callable[[str], None] | None = None
    after: Callable[[str], None] | None = None
    heard: list[Message] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    closed: bool = False

    def send(self, messages: Sequence[Message]) -> list[SendOutcome]:
        """Let each channel answer; all but those that refuse have heard the message."""
        outcomes = []
        for message in messages:
            if self.closed:
                outcomes.append(SendOutcome(SendResult.REFUSED, "the sender is closed"))
                continue
            if self.before is not None:
                self.before(message.channel.name)
            outcome = self.answer(message)
            self.tried[message.channel.name] += 1
            if outcome.result is not SendResult.REFUSED:
                self.heard.append(message)
            if self.after is not None:
                self.after(message.channel.name)
            outcomes.append(outcome)
        return outcomes

    def close(self) -> None:
        """Send nothing more."""
        self.closed = True
