"""The user's phone: notifications of the daemon arrive there, or do not, by seed."""

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
from tests.simulation.engine.scenario import Scenario

NOTIFY: Final = NotifySettings(
    channels=(Channel("phone", "fake://phone"),), urgent=(NotificationRule.QUESTION,), quiet="22:00-07:00"
)
"""At night only questions come through."""

_ANSWERS: Final = (SendResult.DELIVERED, SendResult.REFUSED, SendResult.UNKNOWN)
_SHARES: Final = (8, 1, 1)


@dataclass(slots=True)
class Phone:
    """The port `Sender`. `received` counts the notifications that reached the user by id, whatever was answered.

    changes: called around each message, since the daemon may be killed before it is sent and after it arrived.
    """

    scenario: Scenario
    changes: Callable[[str], None] = lambda _: None
    received: Counter[str] = field(default_factory=Counter)
    _sender: FakeSender = field(init=False)
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        """Draw from the scenario."""
        self._random = self.scenario.random("phone")
        self._sender = FakeSender(self._answer, self._before, self._after)

    def send(self, messages: Sequence[Message]) -> list[SendOutcome]:
        """Deliver messages, or lose them."""
        return self._sender.send(messages)

    def close(self) -> None:
        """Do nothing: the phone outlives the daemon."""

    def _before(self, _: str) -> None:
        self.changes("notify")

    def _after(self, _: str) -> None:
        for message in self._sender.heard:
            self.received.update(message.about)
        self._sender.heard.clear()
        self.changes("notified")

    def _answer(self, _: Message) -> SendOutcome:
        (answer,) = self._random.choices(_ANSWERS, _SHARES)
        if answer is not SendResult.DELIVERED and not self.scenario.allows("phone"):
            answer = SendResult.DELIVERED
        return SendOutcome(answer, "" if answer is SendResult.DELIVERED else "no signal")
