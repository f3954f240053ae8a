"""A spool in memory, a clock that moves when told, channels that do as they are told."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from orchestrator.model.notification import Channel, Notification, NotificationRule
from orchestrator.model.notify_settings import NotifySettings
from orchestrator.notifications.delivery import Delivery
from orchestrator.notifications.envelope import Envelope
from orchestrator.notifications.spool import DELIVERED, FAILED, Spool
from orchestrator.ports.sender import Message
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_sender import FakeSender
from orchestrator.testing.memory_files import MemoryFiles

FOLDER = Path("/state/notifications")
PHONE, DESK = Channel("phone", "fake://phone"), Channel("desk", "fake://desk")


class Killed(BaseException):
    """The process is no more."""


@dataclass
class Newsroom:
    """A teller's whole world. `boot` is a new process on what lies on the disk."""

    settings: NotifySettings = field(default_factory=lambda: NotifySettings(channels=(PHONE,)))
    clock: FakeClock = field(default_factory=FakeClock)
    sender: FakeSender = field(default_factory=FakeSender)
    answered: set[str] = field(default_factory=set)
    number: int = 0

    def __post_init__(self) -> None:
        self.files = MemoryFiles(now=self.clock.now)
        self.spool = Spool(self.files, FOLDER)
        self.sent_at: dict[str, list[float]] = {}
        self.sender.before = lambda name: self.sent_at.setdefault(name, []).append(self.clock.now())
        self.boot()

    def boot(self) -> None:
        self.rounds = Delivery(
            self.spool, self.settings, self.sender, self.clock, lambda news: news.id not in self.answered
        )

    def sets(self, **settings: object) -> None:
        self.settings = replace(self.settings, **settings)  # type: ignore[arg-type]
        self.boot()

    def news(self, rule: NotificationRule = NotificationRule.COMPLETE, **other: str) -> Notification:
        self.number += 1
        notified = Notification(
            f"{rule}-{self.number}", rule, f"title {self.number}", f"text {self.number}", self.clock.now()
        )
        if rule is NotificationRule.QUESTION:
            notified = replace(notified, task="demo-1", question=f"q{self.number}")
        notified = replace(notified, **other)  # type: ignore[arg-type]
        self.spool.put(Envelope(notified))
        return notified

    def goes(self) -> float | None:
        return self.rounds.go()

    def passes(self, seconds: float) -> None:
        """Let time pass; a round is gone when one is due."""
        until = self.clock.now() + seconds
        while (wake_at := self.goes()) is not None and wake_at <= until:
            self.clock.advance(max(wake_at - self.clock.now(), 0.001))
        self.clock.advance(max(until - self.clock.now(), 0.0))

    def bodies(self, channel: str = "phone") -> list[str]:
        return [said_in(said) for said in self.sender.heard if said.channel.name == channel]

    def times(self, channel: str = "phone") -> Counter[str]:
        """Return how often each news was heard, by its title."""
        return Counter(
            f"title {n}"
            for said in self.bodies(channel)
            for n in range(1, self.number + 1)
            if f"title {n}|" in said.replace("\n", "|")
        )

    def over(self) -> tuple[set[str], set[str]]:
        """Return the ids of what was told and of what failed."""
        notified, failed = (
            {envelope.notification.id for envelope in self.spool.over(where)} for where in (DELIVERED, FAILED)
        )
        return notified, failed

    def waiting(self) -> set[str]:
        return {envelope.notification.id for envelope in self.spool.look()}


def said_in(message: Message) -> str:
    return f"{message.title}\n{message.body}"
