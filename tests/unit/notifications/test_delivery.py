import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.model.notification import Notification, NotificationRule
from orchestrator.model.notify_settings import NotifySettings
from orchestrator.notifications.envelope import Envelope, Receipt, Standing, decoded, encoded
from orchestrator.notifications.policy import HOUR, result_of
from orchestrator.notifications.spool import DELIVERED, FAILED, NEW, Spool
from orchestrator.ports.sender import SendOutcome, SendResult
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_sender import FakeSender
from orchestrator.testing.local_zone import local_zone
from tests.unit.notifications.newsroom import DESK, FOLDER, PHONE, Killed, Newsroom

TOLD_IT, REFUSED, UNKNOWN = (
    SendOutcome(answer, "" if answer is SendResult.DELIVERED else "no") for answer in SendResult
)


@pytest.fixture
def room():
    return Newsroom()


def test_notification_is_sent_at_once_and_once(room):
    news = room.news()
    assert room.goes() is None
    assert room.bodies() == ["title 1\ntext 1"]
    assert room.over() == ({news.id}, set())
    room.spool.put(room.spool.over(DELIVERED)[0])
    room.boot()
    room.passes(HOUR)
    assert len(room.bodies()) == 1


def test_a_question_bears_its_id_and_the_command_that_answers_it(room):
    news = room.news(NotificationRule.QUESTION)
    room.goes()
    assert room.bodies()[0].endswith(f"answer: task answer demo-1 q1 ANSWER\n({news.id})")


def test_notifications_close_together_share_a_message(room):
    room.news()
    room.goes()
    for _ in range(3):
        room.clock.advance(10)
        room.news()
        room.goes()
    assert len(room.bodies()) == 1
    room.passes(60)
    assert len(room.bodies()) == 2
    assert room.bodies()[1].startswith("3 notifications\n")
    assert room.times() == {"title 1": 1} | dict.fromkeys(("title 2", "title 3", "title 4"), 1)


def test_urgent_notification_takes_waiting_ones_along(room):
    room.sets(urgent=(NotificationRule.DAEMON,))
    room.news()
    room.goes()
    room.news()
    room.goes()
    room.news(NotificationRule.DAEMON)
    room.goes()
    assert room.bodies()[1].startswith("2 notifications\n")


def test_disabled_rule_sends_nothing_and_leaves_nothing(room):
    room.sets(rules=(NotificationRule.QUESTION,))
    news = room.news()
    assert room.goes() is None
    assert room.bodies() == []
    (envelope,) = room.spool.over(DELIVERED)
    assert (envelope.notification.id, envelope.why) == (news.id, "no channel is set for it")


def test_each_channel_has_its_own_rules(room):
    only = type(PHONE)("phone", "fake://phone", (NotificationRule.QUESTION,))
    room.sets(channels=(only, DESK), digest=0.01)
    room.news()
    room.goes()
    room.clock.advance(1)
    room.news(NotificationRule.QUESTION)
    room.goes()
    assert (len(room.bodies("phone")), len(room.bodies("desk"))) == (1, 2)


def test_refusing_channel_is_retried_with_growing_pauses(room):
    """The other channel has the message already."""
    room.sets(channels=(PHONE, DESK))
    refusals = iter([REFUSED] * 3)
    room.sender.answer = lambda said: next(refusals, TOLD_IT) if said.channel is PHONE else TOLD_IT
    room.news()
    room.passes(HOUR)
    assert (len(room.bodies("phone")), len(room.bodies("desk"))) == (1, 1)
    pauses = [round(b - a) for a, b in itertools.pairwise(room.sent_at["phone"])]
    assert pauses == [60, 60, 60]  # a digest is the least between two messages


def test_pauses_grow_up_to_the_longest(room):
    room.sets(digest=0.01, per_hour=1000, tries=9)
    room.sender.answer = lambda _: REFUSED
    room.news()
    room.passes(4 * HOUR)
    pauses = [round(b - a) for a, b in itertools.pairwise(room.sent_at["phone"])]
    assert pauses == [10, 20, 40, 80, 160, 320, 640, 1280]


def test_notification_is_given_up_after_its_tries(room, caplog):
    room.sets(tries=3)
    room.sender.answer = lambda _: REFUSED
    news = room.news()
    room.passes(HOUR)
    assert room.over() == (set(), {news.id})
    assert room.sender.tried["phone"] == 3
    assert [record.levelname for record in caplog.records] == ["WARNING", "ERROR"]
    assert "was not delivered by phone: given up after 3 tries: no" in caplog.text


def test_question_is_given_up_by_its_age_alone(room, caplog):
    """The log says so."""
    room.sets(tries=3, give_up_question=2 * 86400.0)
    room.sender.answer = lambda _: REFUSED
    news = room.news(NotificationRule.QUESTION)
    room.passes(47 * HOUR)
    assert room.waiting() == {news.id}
    assert room.sender.tried["phone"] > 80
    room.passes(2 * HOUR)
    assert room.over() == (set(), {news.id})
    assert caplog.records[-1].levelname == "ERROR"


def test_only_questions_are_sent_again_when_unsure(room):
    room.sets(digest=0.01)
    answers = iter([UNKNOWN, UNKNOWN])
    room.sender.answer = lambda _: next(answers, TOLD_IT)
    room.news()
    room.goes()
    room.clock.advance(1)
    asked = room.news(NotificationRule.QUESTION)
    room.passes(HOUR)
    assert [said.count("title 1") for said in room.bodies()] == [1, 0, 0]
    assert [asked.id in said for said in room.bodies()] == [False, True, True]
    (first, second) = room.spool.over(DELIVERED)
    assert first.receipts["phone"].standing is Standing.UNKNOWN
    assert second.receipts["phone"].standing is Standing.DELIVERED


def test_answered_question_is_not_sent(room):
    room.sender.answer = lambda _: REFUSED
    news = room.news(NotificationRule.QUESTION)
    room.goes()
    room.answered.add(news.id)
    room.passes(HOUR)
    assert room.sender.tried["phone"] == 1
    (envelope,) = room.spool.over(DELIVERED)
    assert envelope.why == "it was answered"


def test_quiet_hours_are_waited_for_but_not_by_what_is_urgent():
    with local_zone("Europe/Berlin"):
        room = Newsroom(clock=FakeClock(1_764_280_800.0))  # 23:00 there
        room.sets(quiet="22:00-07:00", urgent=(NotificationRule.DAEMON,))
        for rule in (NotificationRule.COMPLETE, NotificationRule.DAEMON, NotificationRule.BLOCKED):
            room.news(rule)
        wake_at = room.goes()
        assert len(room.bodies()) == 1
        assert "title 2" in room.bodies()[0]
        assert wake_at == 1_764_309_600.0  # 07:00
        room.passes(8 * HOUR)
        assert len(room.bodies()) == 2
        assert room.times() == dict.fromkeys(("title 1", "title 2", "title 3"), 1)


def test_the_rate_is_remembered_across_restarts(room):
    room.sets(per_hour=2, digest=0.01)
    for _ in range(5):
        room.news()
        room.goes()
        room.clock.advance(1)
        room.boot()
    assert len(room.bodies()) == 2
    room.passes(HOUR)
    assert len(room.bodies()) == 3
    assert room.times() == {f"title {n}": 1 for n in range(1, 6)}


def test_a_clock_that_was_set_back_delays_nothing_for_long(room):
    room.sender.answer = lambda _: REFUSED
    room.news()
    room.goes()
    room.clock.jump(-10 * HOUR)
    room.sender.answer = lambda _: TOLD_IT
    room.passes(HOUR)
    assert len(room.bodies()) == 1


def test_without_channels_everything_is_laid_aside(room):
    room.sets(channels=())
    news = room.news(NotificationRule.QUESTION)
    assert room.goes() is None
    assert room.over() == ({news.id}, set())


def test_only_the_newest_stay_to_be_looked_at(room):
    room.sets(channels=(), kept=3)
    for _ in range(6):
        room.news()
        room.goes()
        room.clock.advance(1)
    assert [envelope.notification.title for envelope in room.spool.over(DELIVERED)] == [
        "title 4",
        "title 5",
        "title 6",
    ]


def test_invalid_envelope_is_set_aside(room, caplog):
    room.files.put(FOLDER / NEW / "x.json", b"{not json")
    room.files.put(FOLDER / NEW / "y.json", b"{}")
    room.news()
    room.goes()
    assert len(room.bodies()) == 1
    assert {entry.name for entry in room.files.entries(FOLDER / FAILED)} == {"x.json", "y.json"}
    assert "x.json is not sent" in caplog.text


def test_put_again_while_it_is_being_sent_it_is_still_one(room):
    news = room.news()

    def again(_name):
        room.files.put(
            FOLDER / NEW / f"{news.id}.json", room.files.read(FOLDER / "sending" / f"{news.id}.json")
        )

    room.sender.before = again
    room.goes()
    room.boot()
    room.goes()
    assert room.sender.tried["phone"] == 1
    assert room.waiting() == set()


# Kills --------------------------------------------------------------------------------------------


def life(kill_at=None, *, power=False, at_channel=None):
    """Three news, one a question, of two channels; the process is killed ahead of one change, or in a message."""
    room = Newsroom(NotifySettings(channels=(PHONE, DESK), digest=0.01))
    steps = itertools.count(1)

    def change(_step, _path: Path):
        if next(steps) == kill_at:
            raise Killed

    room.files.before = change
    if at_channel is not None:
        moment, number = at_channel
        calls = itertools.count(1)

        def call(_name):
            if next(calls) == number:
                raise Killed

        setattr(room.sender, moment, call)
    kills = 0
    for rule in (NotificationRule.COMPLETE, NotificationRule.QUESTION, NotificationRule.BLOCKED):
        wanted = room.number + 1
        for _ in range(3):
            try:
                if room.number < wanted:
                    room.news(rule)
                room.passes(20)
                break
            except Killed:
                kills += 1
                room.files.crash(power=power)
                room.boot()
                if room.number == wanted:  # the outbox puts it again
                    room.number -= 1
    room.passes(HOUR)
    return room, kills, next(steps) - 1


def check(room):
    notified, failed = room.over()
    assert (notified, failed) == ({"complete-1", "question-2", "blocked-3"}, set())
    assert room.waiting() == set()
    for channel in ("phone", "desk"):
        times = room.times(channel)
        assert times["title 1"] <= 1
        assert times["title 2"] >= 1
        assert times["title 3"] <= 1


def test_kill_before_any_write_duplicates_and_loses_nothing():
    """No question is lost, and nothing else is sent twice."""
    room, _, changes = life()
    check(room)
    assert room.times("phone") == room.times("desk") == {"title 1": 1, "title 2": 1, "title 3": 1}
    assert changes > 40
    for number in range(1, changes + 1):
        for power in (False, True):
            room, kills, _ = life(number, power=power)
            assert kills == 1
            check(room)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("number", range(1, 7))
def test_kill_while_sending_repeats_a_question_by_its_id(moment, number):
    room, kills, _ = life(at_channel=(moment, number))
    assert kills == 1
    check(room)
    heard = [said for channel in ("phone", "desk") for said in room.bodies(channel) if "q2" in said]
    assert 2 <= len(heard) <= 4
    assert all("(question-2)" in said for said in heard)


# Anything -----------------------------------------------------------------------------------------

moments = st.tuples(
    st.sampled_from(list(NotificationRule)),
    st.floats(0, 4 * HOUR),
    st.sampled_from(["", "boot", "answer"]),
)


@settings(deadline=None, max_examples=60)
@given(
    moments=st.lists(moments, min_size=1, max_size=25),
    answers=st.lists(st.sampled_from([TOLD_IT, REFUSED, UNKNOWN]), max_size=40),
    per_hour=st.integers(1, 4),
    quiet=st.sampled_from(["", "22:00-07:00", "13:00-16:30"]),
    urgent=st.sampled_from([(), (NotificationRule.QUESTION,)]),
    digest=st.sampled_from([0.01, 60.0, 900.0]),
)
def test_rate_is_kept_and_nothing_lost_or_doubled(moments, answers, per_hour, quiet, urgent, digest):
    room = Newsroom(sender=FakeSender())
    room.sets(per_hour=per_hour, quiet=quiet, urgent=urgent, digest=digest)
    given_answers = iter(answers)
    room.sender.answer = lambda _: next(given_answers, TOLD_IT)
    put, answered = set(), set()
    for rule, seconds, then in moments:
        news = room.news(rule)
        put.add(news.id)
        room.passes(seconds)
        if then == "boot":
            room.boot()
        elif then == "answer" and rule is NotificationRule.QUESTION:
            room.answered.add(news.id)
            answered.add(news.title)
    room.passes(10 * 86400.0)
    notified, failed = room.over()
    assert notified | failed == put
    assert not notified & failed
    assert room.waiting() == set()
    times = room.times()
    for envelope in (*room.spool.over(DELIVERED), *room.spool.over(FAILED)):
        if envelope.asks and envelope.notification.title not in answered:
            assert times[envelope.notification.title] >= 1
        elif not envelope.asks:
            assert times[envelope.notification.title] <= 1
    sent = room.sent_at.get("phone", [])
    for at in sent:
        assert len([each for each in sent if at <= each < at + HOUR]) <= per_hour


# What is said of it afterwards --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([TOLD_IT, REFUSED], "delivered"),
        ([UNKNOWN, REFUSED], "unknown"),
        ([REFUSED, REFUSED], "failed"),
    ],
    ids=["one took it", "one may have", "none did"],
)
def test_notification_is_delivered_if_a_channel_took_it(room, answers, said):
    room.sets(channels=(PHONE, DESK), tries=1)
    by_channel = dict(zip(("phone", "desk"), answers, strict=True))
    room.sender.answer = lambda message: by_channel[message.channel.name]
    room.news()
    room.goes()
    assert [result_of(envelope) for where in (DELIVERED, FAILED) for envelope in room.spool.over(where)] == [
        said
    ]


@pytest.mark.parametrize("why", ["no channel", "its rule is off", "answered"])
def test_notification_without_channel_is_not_sent(room, why):
    if why == "no channel":
        room.sets(channels=())
    elif why == "its rule is off":
        room.sets(rules=(NotificationRule.DAEMON,))
    news = room.news(NotificationRule.QUESTION)
    room.answered.add(news.id if why == "answered" else "")
    room.goes()
    assert [result_of(envelope) for envelope in room.spool.over(DELIVERED)] == ["not_sent"]


def test_spool_of_an_earlier_version_is_adopted(room):
    """Before 1.0 the spool was `news`, its folder of sent envelopes `told`: none of them is sent once more."""
    former = FOLDER.parent / "news"
    old = Spool(room.files, former)
    sent = replace(room.news(), id="complete-old")
    envelope = Envelope(sent, {"phone": Receipt(Standing.DELIVERED, 1, (1.0,))}, "")
    room.files.make_folder(former / "told")
    data = encoded(envelope).replace(b'"delivered"', b'"told"')
    room.files.write(former / "told" / "complete-old.json", data)
    old.put(Envelope(replace(sent, id="complete-new")))
    room.spool.adopt(former)
    room.spool.adopt(former)
    assert room.spool.over(DELIVERED) == [envelope]
    assert not room.spool.put(Envelope(sent))
    assert "complete-new" in room.waiting()
    assert not room.files.entries(former / "told")


def test_former_words_of_receipts_are_read():
    """Envelopes of versions before 1.0 say `told` and `given up`."""
    envelope = Envelope(
        Notification("n", NotificationRule.COMPLETE, "t", "x", 1.0),
        {"a": Receipt(Standing.DELIVERED), "b": Receipt(Standing.GIVEN_UP)},
    )
    data = encoded(envelope).replace(b"delivered", b"told").replace(b"given_up", b"given up")
    assert decoded(data) == envelope
