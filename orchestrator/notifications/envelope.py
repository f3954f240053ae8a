"""A letter: one piece of news, and how far each channel is with it. A file of the spool holds one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from orchestrator.model.notification import Notification, NotificationRule

LARGEST: Final = 65_536
"""Bytes of a letter at most; none that we write comes near."""


class Standing(StrEnum):
    """How far a channel is with a letter."""

    TRYING = "trying"  # claimed: whoever finds it so does not know whether it was sent
    TOLD = "told"
    REFUSED = "refused"  # not delivered, to be tried again
    UNKNOWN = "unknown"  # may have been delivered
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is known of one channel.

    `count` is how often it was tried, `tries` are the latest moments of that. Times are seconds since the epoch.
    """

    standing: Standing
    count: int = 0
    tries: tuple[float, ...] = ()
    again_at: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Envelope:
    """News with its receipts, by the channels' names. `why` says why it was laid aside untold."""

    news: Notification
    receipts: dict[str, Receipt] = field(default_factory=dict)
    why: str = ""

    @property
    def asks(self) -> bool:
        """True of a question: it is told at least once, all other news at most once (law 4)."""
        return self.news.rule is NotificationRule.QUESTION

    def with_receipt(self, channel: str, receipt: Receipt) -> Envelope:
        """Return the letter with a channel's receipt in it."""
        return replace(self, receipts={**self.receipts, channel: receipt})


def encoded(envelope: Envelope) -> bytes:
    """Return a letter as the bytes of its file: JSON that a person can read."""
    news = envelope.news
    shape = {
        "id": news.id,
        "rule": news.rule.value,
        "title": news.title,
        "text": news.text,
        "at": news.at,
        "task": news.task,
        "question": news.question,
        "until": news.until,
        "default": news.default,
        "why": envelope.why,
        "receipts": {
            channel: {
                "standing": receipt.standing.value,
                "count": receipt.count,
                "tries": list(receipt.tries),
                "again_at": receipt.again_at,
                "reason": receipt.reason,
            }
            for channel, receipt in envelope.receipts.items()
        },
    }
    return json.dumps(shape, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def decoded(data: bytes) -> Envelope:
    """Return the letter that `encoded` gave. Raises ValueError: it is none."""
    try:
        said = json.loads(data)
        news = Notification(
            id=_text(said["id"]),
            rule=NotificationRule(said["rule"]),
            title=_text(said["title"]),
            text=_text(said["text"]),
            at=float(said["at"]),
            task=_text(said["task"]),
            question=_text(said["question"]),
            # Older versions wrote these into the text.
            until=None if (until := said.get("until")) is None else float(until),
            default=_text(said.get("default", "")),
        )
        receipts = {_text(channel): _receipt(told) for channel, told in said["receipts"].items()}
        return Envelope(news, receipts, _text(said["why"]))
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"is no letter: {error!r}") from error


def _receipt(told: Any) -> Receipt:  # noqa: ANN401 (what lies in a file)
    return Receipt(
        Standing(told["standing"]),
        int(told["count"]),
        tuple(float(each) for each in told["tries"]),
        float(told["again_at"]),
        _text(told["reason"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value
