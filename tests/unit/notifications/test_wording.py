from dataclasses import replace

from orchestrator.model.notification import Channel, Notification, NotificationRule
from orchestrator.notifications.wording import message
from orchestrator.ports.sender import Tone
from orchestrator.testing.local_zone import local_zone

AT = 1_764_254_220.0
CHANNEL = Channel("phone", "fake://phone")
ASKED = Notification(
    "question-1", NotificationRule.QUESTION, "demo asks: q1", "Keep it?", 1_764_254_100.0, "demo-1", "q1"
)
DONE = Notification(
    "complete-2",
    NotificationRule.COMPLETE,
    "demo is complete",
    "every step is settled",
    1_764_254_160.0,
    "demo-1",
)


def test_single_notification_is_sent_unchanged():
    said = message(CHANNEL, [DONE], AT)
    assert (said.title, said.body, said.tone) == ("demo is complete", "every step is settled", Tone.SUCCESS)


def test_digest_has_times_and_answer_commands():
    said = message(CHANNEL, [ASKED, DONE], AT)
    assert said.title == "2 notifications, 1 of them wait for your answer"
    assert "demo asks: q1\nKeep it?\nanswer: task answer demo-1 q1 ANSWER\n(question-1)" in said.body
    assert said.body.endswith("demo is complete\nevery step is settled")
    assert said.tone is Tone.WARNING


def test_notifications_of_another_day_have_their_date():
    with local_zone("UTC"):
        said = message(CHANNEL, [ASKED, DONE], AT + 86_400)
    assert said.body.startswith("Thu 27 Nov 14:35  demo asks: q1\n")


def test_what_happens_by_itself_is_said_with_its_day():
    """It may be read the next morning."""
    deadline = replace(ASKED, until=AT + 3600, default="no\x1b[2J")
    limited = Notification(
        "limited-3", NotificationRule.LIMITED, "demo: dev is limited", "resets 4pm", AT, until=AT + 3600
    )
    with local_zone("UTC"):
        assert (
            "Unanswered at Thu 27 Nov 2025 15:37, it is taken to be: no"
            in message(CHANNEL, [deadline], AT).body
        )
        assert message(CHANNEL, [limited], AT).body.endswith("It is tried again at Thu 27 Nov 2025 15:37.")
        assert "it is taken to be" in message(CHANNEL, [deadline, limited], AT).body
        assert "\x1b" not in message(CHANNEL, [deadline], AT).body


def test_however_long_a_question_is_how_to_answer_it_stays():
    long = replace(ASKED, text="x" * 100_000, title="t" * 1000)
    for news in ([long], [long] * 10):
        said = message(CHANNEL, news, AT)
        assert said.body.count("answer: task answer demo-1 q1 ANSWER\n(question-1)") == len(news)
        assert len(said.body) < 4096
        assert len(said.title) <= 120


def test_secrets_are_masked_and_nothing_acts_on_a_terminal():
    nasty = "\x1b]52;c;aGk=\x07 token=abcdef123456 \x9b31m \u202e AKIAABCDEFGHIJKLMNOP"
    for news in ([replace(DONE, title=nasty, text=nasty)], [replace(DONE, title=nasty, text=nasty), ASKED]):
        said = message(CHANNEL, news, AT)
        for text in (said.title, said.body):
            assert not set(text) & {"\x1b", "\x07", "\x9b", "\u202e"}
            assert "abcdef123456" not in text
            assert "AKIA" not in text
