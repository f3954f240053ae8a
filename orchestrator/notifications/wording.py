"""The text of a message: one notification as it is, several as a digest. Pure.

Others wrote all of it: secrets are masked, and nothing in it acts on a terminal (law 7). A question always shows its id
and the command that answers it, whatever else is cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.redact import redacted
from orchestrator.formats.text import cut, neutral, one_line
from orchestrator.formats.timestamps import moment_said
from orchestrator.model.notification import Notification, NotificationRule
from orchestrator.ports.sender import Message, Tone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model.notification import Channel

_TITLE: Final = 120
_TEXT: Final = 1500
_TITLE_IN_DIGEST: Final = 90
_TEXT_IN_DIGEST: Final = 200
"""The most characters. Many channels cut messages off after 4,096."""

_TONES: Final = {
    NotificationRule.COMPLETE: Tone.SUCCESS,
    NotificationRule.QUESTION: Tone.WARNING,
    NotificationRule.BLOCKED: Tone.WARNING,
    NotificationRule.LIMITED: Tone.INFO,
    NotificationRule.DAEMON: Tone.FAILURE,
}


def harmless(text: str) -> str:
    """Return anybody's text made fit to be shown and kept anywhere."""
    return redacted(neutral(text))


def message(channel: Channel, notifications: Sequence[Notification], at: float) -> Message:
    """Return the message for a channel about one or more notifications. `at` is now, in seconds since the epoch."""
    if len(notifications) == 1:
        (one,) = notifications
        body = [cut(harmless(one.text).strip(), _TEXT), *_until(one), *_answer(one)]
        return Message(channel, _title(one), "\n".join(body), _TONES[one.rule], (one.id,))
    asks = sum(one.rule is NotificationRule.QUESTION for one in notifications)
    title = f"{len(notifications)} notifications" + (f", {asks} of them wait for your answer" if asks else "")
    parts = []
    for one in notifications:
        text = cut(one_line(harmless(one.text)), _TEXT_IN_DIGEST)
        head = f"{moment_said(one.at, at)}  {cut(_title(one), _TITLE_IN_DIGEST)}"
        parts.append("\n".join([head, *([text] if text else []), *_until(one), *_answer(one)]))
    tone = Tone.WARNING if asks else Tone.INFO
    return Message(channel, title, "\n\n".join(parts), tone, tuple(one.id for one in notifications))


def _title(notification: Notification) -> str:
    return cut(one_line(harmless(notification.title)), _TITLE)


def _until(notification: Notification) -> list[str]:
    """Return the line that says what will happen by itself, and when. It names the day: it may be read late."""
    if notification.until is None:
        return []
    when = moment_said(notification.until)
    if notification.rule is NotificationRule.QUESTION:
        return [f"Unanswered at {when}, it is taken to be: {one_line(harmless(notification.default))}"]
    return [f"It is tried again at {when}."]


def _answer(notification: Notification) -> list[str]:
    """Return the lines that say how to answer a question, and by which id a reader knows it if it arrives twice."""
    if not notification.question:
        return []
    return [f"answer: task answer {notification.task} {notification.question} ANSWER", f"({notification.id})"]
