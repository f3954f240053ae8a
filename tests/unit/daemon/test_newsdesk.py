"""The newsdesk: the daemon's own news, once per incident, and told when the disk has room again."""

import errno
import os
from pathlib import Path

import pytest

from orchestrator.daemon.hands import Inline
from orchestrator.daemon.hints import Hint, NewsHint
from orchestrator.daemon.newsdesk import INCIDENT, REST, NewsDesk
from orchestrator.model.news import Channel, News, Rule
from orchestrator.model.settings import NotifySettings
from orchestrator.ports.teller import Answer, Outcome
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_teller import FakeTeller
from orchestrator.testing.memory_files import MemoryFiles

CHANNEL = Channel("phone", "fake://phone")
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Desk:
    def __init__(self, hands=None):
        self.clock, self.teller = FakeClock(), FakeTeller()
        self.hints: list[Hint] = []
        self.files = MemoryFiles(now=self.clock.now)
        settings = NotifySettings(channels=(CHANNEL,), digest=0.01)
        self.desk = NewsDesk(
            self.files, Path("/s"), settings, self.clock, self.teller, hands or Inline(), self.hints.append
        )

    @property
    def heard(self):
        return [said.title for said in self.teller.heard]


@pytest.fixture
def made():
    return Desk()


def test_a_trouble_that_goes_on_is_told_once_and_again_when_it_comes_anew(made):
    for _ in range(100):
        made.desk.report("rests a", "a rests", "no room")
        made.clock.advance(60)
    made.desk.report("rests b", "b rests", "no room")
    assert made.heard == ["a rests", "b rests"]
    made.clock.advance(INCIDENT)
    made.desk.report("rests a", "a rests", "no room")
    assert made.heard == ["a rests", "b rests", "a rests"]


def test_what_the_disk_does_not_take_is_told_when_it_does(made):
    made.files.fail_next("mkdir", FULL)
    made.desk.report("rests a", "a rests", "no room")
    assert made.heard == []
    assert made.desk.wake_at() == made.clock.now() + REST
    assert made.hints == [NewsHint()]
    made.clock.advance(REST)
    made.desk.see_what_is_due()
    assert made.heard == ["a rests"]
    assert made.desk.wake_at() is None


def test_it_is_woken_when_a_channel_is_to_be_asked_again_and_not_before(made):
    answers = iter([Outcome(Answer.REFUSED, "no")])
    made.teller.answer = lambda _: next(answers, Outcome(Answer.TOLD))
    made.desk.put(News("complete-1", Rule.COMPLETE, "done", "", made.clock.now()))
    wake_at = made.desk.wake_at()
    assert wake_at == made.clock.now() + 10
    made.desk.see_what_is_due()
    assert made.teller.tried["phone"] == 1
    made.clock.advance(10)
    made.desk.see_what_is_due()
    assert made.heard == ["done"]
    assert made.desk.wake_at() is None
    assert len(made.hints) == 2


def test_while_a_look_is_in_hand_nothing_more_is_asked_of_the_hands():
    class Later(Inline):
        def __init__(self):
            self.work = []

        def do(self, key, work):
            assert key == "daemon/news"
            self.work.append(work)

    hands = Later()
    made = Desk(hands)
    for n in range(5):
        made.desk.put(News(f"complete-{n}", Rule.COMPLETE, f"done {n}", "", made.clock.now()))
    assert len(hands.work) == 1
    assert made.desk.wake_at() is None
    hands.work.pop()()
    assert made.heard == ["5 news"]


def test_an_empty_spool_changes_nothing_and_wakes_nobody(made):
    def change(step, path):
        raise AssertionError((step, path))

    made.files.before = change
    for _ in range(10):
        made.desk.look()
    assert made.hints == []
    assert made.desk.wake_at() is None


def test_a_spool_holds_no_secret_and_nothing_that_acts_on_a_terminal(made):
    made.desk.put(News("complete-1", Rule.COMPLETE, "done\x1b[2J", "token=abcdef123456", made.clock.now()))
    (entry,) = made.files.entries(Path("/s/news/told"))
    data = made.files.read(Path("/s/news/told") / entry.name)
    assert b"abcdef123456" not in data
    assert b"u001b" not in data
    assert b"\x1b" not in data
