"""What every `Sender` must do: the one that sends by apprise, and the fake."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

import pytest

from orchestrator.model.notification import Channel
from orchestrator.notifications.subprocess_sender import SubprocessSender
from orchestrator.ports.sender import Message, Sender, SendOutcome, SendResult, Tone
from orchestrator.testing.fake_sender import FakeSender
from tests.polling import wait_until
from tests.webhook import Webhook, a_webhook

DEADLINE = 8.0


class World(Protocol):
    """A teller and the channels that it reaches."""

    @property
    def sender(self) -> Sender: ...
    def channel(self, name: str, behaves: str) -> Channel: ...
    def heard(self, name: str) -> list[str]: ...


@dataclass
class Real:
    sender: SubprocessSender
    hook_of: Callable[[int | str], Webhook]
    hooks: dict[str, Webhook] = field(default_factory=dict)

    def channel(self, name: str, behaves: str) -> Channel:
        answers: dict[str, int | str] = {"takes": 200, "refuses": 500, "hangs": "hang", "cuts": "cut"}
        if behaves == "absent":
            return Channel(name, "json://127.0.0.1:1/very-secret-token")
        if behaves == "nonsense":
            return Channel(name, "nosuch://very-secret-token")
        hook = self.hooks[name] = self.hook_of(answers[behaves])
        return Channel(name, hook.url)

    def heard(self, name: str) -> list[str]:
        return [f"{said['title']}|{said['message']}" for said in self.hooks[name].heard]


@dataclass
class Fake:
    sender: FakeSender
    behaviour: dict[str, SendOutcome] = field(default_factory=dict)

    def channel(self, name: str, behaves: str) -> Channel:
        answers = {"takes": SendResult.DELIVERED, "hangs": SendResult.UNKNOWN, "cuts": SendResult.UNKNOWN}
        self.behaviour[name] = SendOutcome(
            answers.get(behaves, SendResult.REFUSED), "" if behaves == "takes" else behaves
        )
        return Channel(name, "fake://very-secret-token")

    def heard(self, name: str) -> list[str]:
        return [f"{said.title}|{said.body}" for said in self.sender.heard if said.channel.name == name]


@pytest.fixture(params=["real", "fake"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "fake":
        fake = Fake(FakeSender())
        fake.sender.answer = lambda message: fake.behaviour[message.channel.name]
        yield fake
        return
    open_hooks = []

    def hook_of(answer: int | str) -> Webhook:
        manager = a_webhook(answer)
        open_hooks.append(manager)
        return manager.__enter__()

    environ = {**os.environ, "no_proxy": "*"}
    yield Real(SubprocessSender(DEADLINE, "no-such-server", environ), hook_of)
    for manager in open_hooks:
        manager.__exit__(None, None, None)


def said(channel: Channel, title: str = "Title", body: str = "Body") -> Message:
    return Message(channel, title, body, Tone.WARNING)


def test_accepted_message_is_delivered_unchanged(world: World) -> None:
    body = "First line\n  <b>not bold</b> & {{x}} #(touch y) ünï\n- last"
    (outcome,) = world.sender.send([said(world.channel("a", "takes"), "A title", body)])
    assert outcome == SendOutcome(SendResult.DELIVERED)
    assert world.heard("a") == [f"A title|{body}"]


@pytest.mark.parametrize("behaves", ["refuses", "absent", "nonsense"])
def test_what_certainly_did_not_arrive_is_refused_with_a_reason(world: World, behaves: str) -> None:
    (outcome,) = world.sender.send([said(world.channel("a", behaves))])
    assert outcome.result is SendResult.REFUSED
    assert outcome.reason


@pytest.mark.parametrize("behaves", ["hangs", "cuts"])
def test_what_may_have_arrived_is_unknown(world: World, behaves: str) -> None:
    (outcome,) = world.sender.send([said(world.channel("a", behaves))])
    assert outcome.result is SendResult.UNKNOWN
    assert outcome.reason
    assert world.heard("a") == ["Title|Body"]


def test_a_reason_holds_nothing_of_the_address(world: World) -> None:
    channels = [world.channel(name, name) for name in ("refuses", "absent", "nonsense", "cuts")]
    outcomes = world.sender.send([said(channel) for channel in channels])
    assert not [outcome for outcome in outcomes if "secret" in outcome.reason]


def test_each_message_has_its_outcome_whatever_the_others_do(world: World) -> None:
    names = ["hangs", "takes", "refuses", "absent"]
    outcomes = world.sender.send([said(world.channel(name, name), name) for name in names])
    assert [outcome.result for outcome in outcomes] == [
        SendResult.UNKNOWN,
        SendResult.DELIVERED,
        SendResult.REFUSED,
        SendResult.REFUSED,
    ]
    assert world.heard("takes") == ["takes|Body"]


def test_channel_takes_two_messages_at_once(world: World) -> None:
    channel = world.channel("a", "takes")
    outcomes = world.sender.send([said(channel, "one"), said(channel, "two")])
    assert [outcome.result for outcome in outcomes] == [SendResult.DELIVERED] * 2
    assert sorted(world.heard("a")) == ["one|Body", "two|Body"]


def test_no_messages_no_outcomes(world: World) -> None:
    assert world.sender.send([]) == []


def test_closed_sender_sends_nothing(world: World) -> None:
    channel = world.channel("a", "takes")
    world.sender.close()
    (outcome,) = world.sender.send([said(channel)])
    assert outcome.result is SendResult.REFUSED
    assert world.heard("a") == []


def test_closing_ends_what_is_being_sent() -> None:
    with a_webhook("hang") as hook:
        sender = SubprocessSender(60.0, "no-such-server", {**os.environ, "no_proxy": "*"})
        outcomes: list[SendOutcome] = []
        sending = threading.Thread(
            target=lambda: outcomes.extend(sender.send([said(Channel("a", hook.url))]))
        )
        sending.start()
        wait_until(lambda: hook.heard)
        sender.close()
        sending.join(10)
        assert not sending.is_alive()
        assert [outcome.result for outcome in outcomes] == [SendResult.UNKNOWN]


def test_a_teller_whose_program_is_broken_refuses_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    sender = SubprocessSender(10.0, "no-such-server", {"PYTHONHOME": "/nowhere"})
    (outcome,) = sender.send([said(Channel("a", "json://127.0.0.1:1"))])
    assert outcome.result is SendResult.REFUSED
    assert outcome.reason.startswith("it could not begin: ")


def test_messages_are_values() -> None:
    message = said(Channel("a", "fake://x"))
    assert replace(message, title="other") != message
    assert "fake://x" not in repr(message)
