"""The user is told, by a real daemon over a real web server on loopback: once, and without holding anything up."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.integration.daemon.world import World, a_world
from tests.webhook import Webhook, a_webhook

BLOCKED = {"status": "BLOCKED", "blockers": "There is no key. token=abcdef123456"}
QUICK = {
    "notify__retry_pause": "100 ms",
    "notify__max_retry_pause": "300 ms",
    "notify__digest": "50 ms",
    "notify__timeout": "5 s",
}


@dataclass
class Office:
    """A world and the channels that its user is told by."""

    stack: ExitStack
    hooks: list[Webhook] = field(default_factory=list)

    def world(self, *answers: int | str, **settings: str) -> World:
        self.hooks = [self.stack.enter_context(a_webhook(answer)) for answer in answers]
        channels = json.dumps([f"{hook.url} name=c{n}" for n, hook in enumerate(self.hooks)])
        made = self.stack.enter_context(a_world(**QUICK | settings, notify__channels=channels))
        made.environ["no_proxy"] = "*"
        return made


@pytest.fixture
def office() -> Iterator[Office]:
    with ExitStack() as stack:
        yield Office(stack)


def news(world: World, where: str) -> list[dict[str, Any]]:
    """Return the letters of a folder of the spool."""
    found = [json.loads(path.read_bytes()) for path in (world.state / "notifications" / where).glob("*.json")]
    return sorted(found, key=lambda letter: letter["at"])


def test_question_and_end_are_sent_and_one_command_answers(office: Office) -> None:
    """A question and the end are told and the answer is one command."""
    world = office.world(200)
    (hook,) = office.hooks
    world.begin({"dev:greet": [BLOCKED, BLOCKED]})
    world.until(lambda: hook.heard)
    (asked,) = hook.heard
    assert asked["title"] == "t1 asks: q1"
    assert "There is no key." in asked["message"]
    assert "abcdef123456" not in asked["message"]
    line = next(line for line in asked["message"].splitlines() if line.startswith("answer: task "))
    words = line.removeprefix("answer: task ").replace("TEXT", "retry").split()
    assert world.task(*words).code == 0
    world.until_is("complete")
    world.until(lambda: len(news(world, "delivered")) == 2)
    assert hook.texts() == ["t1 asks: q1", "t1 is complete"]
    assert not world.state_shown()["questions"]
    assert world.story().facts("notified")
    assert "t1 asks: q1" in world.task("why", "t1", "-n", "100").out
    world.check_once()


def test_hanging_channel_delays_nothing_else(office: Office) -> None:
    """A channel that hangs delays no handoff and not the other channel."""
    world = office.world("hang", 200, notify__timeout="60 s", daemon__workers="1")
    hanging, other = office.hooks
    world.begin({"explore": [BLOCKED, BLOCKED]})
    world.until(lambda: hanging.heard and other.heard)
    begun = time.monotonic()
    assert world.task("answer", "t1", "q1", "retry").code == 0
    world.until_is("complete")
    assert (
        time.monotonic() - begun < 20
    )  # six agents one after the other, and a minute of silence beside them
    assert len(hanging.heard) == 1
    assert not (world.state / "notifications" / "failed").exists()
    began = time.monotonic()
    world.stop_daemon()
    assert time.monotonic() - began < 10
    world.daemon()
    world.until(lambda: "t1 is complete" in other.texts())
    assert other.texts().count("t1 asks: q1") == 1


def test_a_channel_that_comes_back_gets_what_it_missed_once(office: Office) -> None:
    world = office.world(500)
    (hook,) = office.hooks
    world.begin()
    world.until_is("complete")
    world.until(lambda: len(hook.heard) >= 3)
    world.stop_daemon()
    world.daemon()
    before = len(hook.heard)
    world.until(lambda: len(hook.heard) > before)
    hook.answer = 200
    world.until(lambda: news(world, "delivered"))
    (letter,) = news(world, "delivered")
    assert letter["title"] == "t1 is complete"
    assert letter["receipts"]["c0"]["standing"] == "delivered"
    assert set(hook.texts()) == {"t1 is complete"}
    assert "is not delivered by c0 yet: HTTP 500" in world.log


@pytest.mark.thorough(reason="unit/notifications/test_delivery.py kills it at each change and in a message")
def test_after_a_kill_only_the_question_is_sent_again(office: Office) -> None:
    """Killed while it tells a question is told again and other news is not."""
    world = office.world("hang", notify__timeout="60 s", notify__rules="question,complete")
    (hook,) = office.hooks
    world.begin({"dev:greet": [BLOCKED, BLOCKED]})
    world.until(lambda: hook.heard)
    world.kill_daemon()
    hook.answer = 200
    world.daemon()
    world.until(lambda: hook.texts().count("t1 asks: q1") == 2)
    ids = {
        line for said in hook.heard for line in said["message"].splitlines() if line.startswith("(question-")
    }
    assert len(ids) == 1
    world.until(lambda: [letter for letter in news(world, "delivered") if letter["question"]])
    hook.answer = "hang"
    assert world.task("answer", "t1", "q1", "retry").code == 0
    world.until_is("complete")
    world.until(lambda: [said for said in hook.heard if "t1 is complete" in said["title"]])
    world.kill_daemon()
    hook.answer = 200
    world.daemon()
    world.until(
        lambda: [letter for letter in news(world, "delivered") if letter["title"] == "t1 is complete"]
    )
    (letter,) = [letter for letter in news(world, "delivered") if letter["title"] == "t1 is complete"]
    assert letter["receipts"]["c0"]["standing"] == "unknown"
    assert hook.texts().count("t1 is complete") == 1
    assert "it is not known whether c0 delivered it; it is not sent again" in world.log


@pytest.mark.thorough(
    reason="unit/daemon/test_recovery.py: one that was killed is reported, one that ended is not"
)
def test_only_a_killed_daemon_reports_its_return(
    office: Office,
) -> None:
    """A daemon that was killed at work tells so when it is back and one that was stopped does not."""
    world = office.world(200)
    (hook,) = office.hooks
    world.begin({"explore": [{"hold": "on"}]})
    world.until_works("explore")
    world.stop_daemon()
    world.daemon()
    world.kill_daemon()
    world.daemon()
    world.until(lambda: hook.heard)
    assert hook.texts() == ["the daemon is up again"]
    assert re.search(r"heartbeat|beat .*\d\d:\d\d", hook.heard[0]["message"])
    world.go("on")
    world.until_is("complete")
    world.until(lambda: len(news(world, "delivered")) == 2)
    assert hook.texts() == ["the daemon is up again", "t1 is complete"]


def test_without_channel_notifications_can_be_read(world: World) -> None:
    """Without a channel nothing is sent and what would have been can be read."""
    world.begin()
    world.until_is("complete")
    world.until(lambda: news(world, "delivered"))
    shape = json.loads(world.task("notify", "list", "--json").out)
    assert [(each["title"], each["why"]) for each in shape["notifications"]] == [
        ("t1 is complete", "no channel is set for it")
    ]
    assert oct((world.state / "notifications").stat().st_mode & 0o777) == "0o700"
    letter = next((world.state / "notifications" / "delivered").iterdir())
    assert oct(letter.stat().st_mode & 0o777) == "0o600"
