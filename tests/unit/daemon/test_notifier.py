"""The notifier: the daemon's own notifications, once per incident, and sent when the disk has room again."""

import errno
import os
from pathlib import Path

import pytest

from orchestrator.daemon.core.hints import Hint, NotificationHint
from orchestrator.daemon.core.notifier import INCIDENT, REST, Notifier
from orchestrator.daemon.core.worker_pool import InlineExecutor
from orchestrator.model.notification import Channel, Notification, NotificationRule
from orchestrator.model.notify_settings import NotifySettings
from orchestrator.ports.sender import SendOutcome, SendResult
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_sender import FakeSender
from orchestrator.testing.memory_files import MemoryFiles

CHANNEL = Channel("phone", "fake://phone")
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Desk:
    def __init__(self, executor=None):
        self.clock, self.sender = FakeClock(), FakeSender()
        self.hints: list[Hint] = []
        self.files = MemoryFiles(now=self.clock.now)
        settings = NotifySettings(channels=(CHANNEL,), digest=0.01)
        self.desk = Notifier(
            self.files,
            Path("/s"),
            settings,
            self.clock,
            self.sender,
            executor or InlineExecutor(),
            self.hints.append,
        )

    @property
    def heard(self):
        return [said.title for said in self.sender.heard]


@pytest.fixture
def made():
    return Desk()


def test_incident_is_notified_once_and_when_it_recurs(made):
    for _ in range(100):
        made.desk.report("rests a", "a rests", "no room")
        made.clock.advance(60)
    made.desk.report("rests b", "b rests", "no room")
    assert made.heard == ["a rests", "b rests"]
    made.clock.advance(INCIDENT)
    made.desk.report("rests a", "a rests", "no room")
    assert made.heard == ["a rests", "b rests", "a rests"]


def test_unwritten_notification_is_sent_when_there_is_room(made):
    made.files.fail_next("mkdir", FULL)
    made.desk.report("rests a", "a rests", "no room")
    assert made.heard == []
    assert made.desk.wake_at() == made.clock.now() + REST
    assert made.hints == [NotificationHint()]
    made.clock.advance(REST)
    made.desk.see_what_is_due()
    assert made.heard == ["a rests"]
    assert made.desk.wake_at() is None


def test_notifier_wakes_when_a_channel_is_due(made):
    answers = iter([SendOutcome(SendResult.REFUSED, "no")])
    made.sender.answer = lambda _: next(answers, SendOutcome(SendResult.DELIVERED))
    made.desk.put(Notification("complete-1", NotificationRule.COMPLETE, "done", "", made.clock.now()))
    wake_at = made.desk.wake_at()
    assert wake_at == made.clock.now() + 10
    made.desk.see_what_is_due()
    assert made.sender.tried["phone"] == 1
    made.clock.advance(10)
    made.desk.see_what_is_due()
    assert made.heard == ["done"]
    assert made.desk.wake_at() is None
    assert len(made.hints) == 2


def test_one_spool_job_is_queued_at_a_time():
    class Later(InlineExecutor):
        def __init__(self):
            self.work = []

        def do(self, key, work):
            assert key == "daemon/notifications"
            self.work.append(work)

    executor = Later()
    made = Desk(executor)
    for n in range(5):
        made.desk.put(
            Notification(f"complete-{n}", NotificationRule.COMPLETE, f"done {n}", "", made.clock.now())
        )
    assert len(executor.work) == 1
    assert made.desk.wake_at() is None
    executor.work.pop()()
    assert made.heard == ["5 notifications"]


def test_notifier_takes_over_the_spool_of_an_earlier_version(made):
    """Before 1.0 it was the folder `news`."""
    made.desk.put(Notification("question-1", NotificationRule.QUESTION, "t", "x", made.clock.now()))
    old, new = Path("/s/news/told"), Path("/s/notifications/delivered")
    (entry,) = made.files.entries(new)
    made.files.make_folder(old)
    made.files.rename(new / entry.name, old / entry.name)
    Notifier(
        made.files, Path("/s"), NotifySettings(), made.clock, made.sender, InlineExecutor(), made.hints.append
    )
    assert [each.name for each in made.files.entries(new)] == [entry.name]


def test_an_empty_spool_changes_nothing_and_wakes_nobody(made):
    def change(step, path):
        raise AssertionError((step, path))

    made.files.before = change
    for _ in range(10):
        made.desk.look()
    assert made.hints == []
    assert made.desk.wake_at() is None


def test_spool_holds_no_secrets_and_no_control_codes(made):
    made.desk.put(
        Notification(
            "complete-1", NotificationRule.COMPLETE, "done\x1b[2J", "token=abcdef123456", made.clock.now()
        )
    )
    (entry,) = made.files.entries(Path("/s/notifications/delivered"))
    data = made.files.read(Path("/s/notifications/delivered") / entry.name)
    assert b"abcdef123456" not in data
    assert b"u001b" not in data
    assert b"\x1b" not in data
