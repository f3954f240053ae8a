"""The user's phone: what the daemon tells arrives there, or does not, by seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from orchestrator.model.notification import Channel, NotificationRule
from orchestrator.model.notify_settings import NotifySettings
from orchestrator.ports.sender import Message, SendOutcome, SendResult
from orchestrator.testing.fake_sender import FakeSender
from orchestrator.testing.simulation.scenario import Scenario

NOTIFY: Final = NotifySettings(
    channels=(Channel("phone", "fake://phone"),), urgent=(NotificationRule.QUESTION,), quiet="22:00-07:00"
)
"""At night only questions come through."""

_ANSWERS: Final = (SendResult.TOLD, SendResult.REFUSED, SendResult.UNKNOWN)
_SHARES: Final = (8, 1, 1)


@dataclass(slots=True)
class Phone:
    """The port `Sender`. `heard` counts by their ids the news that reached the user, whatever was answered.

    `changes` is called around each message: the daemon may be killed before it is sent, and after it was heard.
    """

    fate: Scenario
    changes: Callable[[str], None] = lambda _: None
    heard: Counter[str] = field(default_factory=Counter)
    _sender: FakeSender = field(init=False)
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        """Take the dice."""
        self._random = self.fate.random("phone")
        self._sender = FakeSender(self._answer, self._before, self._after)

    def send(self, messages: Sequence[Message]) -> list[SendOutcome]:
        """Let messages arrive, or not."""
        return self._sender.send(messages)

    def close(self) -> None:
        """The daemon closes its end; the next one has another."""

    def _before(self, _: str) -> None:
        self.changes("notify")

    def _after(self, _: str) -> None:
        for message in self._sender.heard:
            self.heard.update(message.about)
        self._sender.heard.clear()
        self.changes("told")

    def _answer(self, _: Message) -> SendOutcome:
        (answer,) = self._random.choices(_ANSWERS, _SHARES)
        if answer is not SendResult.TOLD and not self.fate.lets("phone"):
            answer = SendResult.TOLD
        return SendOutcome(answer, "" if answer is SendResult.TOLD else "no signal")
