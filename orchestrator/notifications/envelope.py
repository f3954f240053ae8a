"""An envelope: one notification, and how far each channel is with it. Each file of the spool holds one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from orchestrator.model.notification import Notification, NotificationRule

LARGEST: Final = 65_536
"""The most bytes that an envelope may have. Those that we write are far smaller."""


class Standing(StrEnum):
    """How far a channel is with an envelope."""

    TRYING = "trying"  # claimed: after a crash nobody knows whether it was sent
    DELIVERED = "delivered"
    REFUSED = "refused"  # not delivered; it is tried again
    UNKNOWN = "unknown"  # may have been delivered
    GIVEN_UP = "given_up"


_FORMER: Final = {"told": Standing.DELIVERED, "given up": Standing.GIVEN_UP}
"""How versions before 1.0 wrote a standing."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is known of one channel.

    `count` is the number of tries, `tries` the times of the latest ones. Times are seconds since the epoch.
    """

    standing: Standing
    count: int = 0
    tries: tuple[float, ...] = ()
    again_at: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Envelope:
    """A notification with its receipts by channel name. `why` says why it was put away without being sent."""

    notification: Notification
    receipts: dict[str, Receipt] = field(default_factory=dict)
    why: str = ""

    @property
    def asks(self) -> bool:
        """True for a question, which is sent at least once. All other notifications are sent at most once (law 4)."""
        return self.notification.rule is NotificationRule.QUESTION

    def with_receipt(self, channel: str, receipt: Receipt) -> Envelope:
        """Return the envelope with a channel's receipt in it."""
        return replace(self, receipts={**self.receipts, channel: receipt})


def encoded(envelope: Envelope) -> bytes:
    """Return an envelope as the bytes of its file: JSON that a person can read."""
    notification = envelope.notification
    shape = {
        "id": notification.id,
        "rule": notification.rule.value,
        "title": notification.title,
        "text": notification.text,
        "at": notification.at,
        "task": notification.task,
        "question": notification.question,
        "until": notification.until,
        "default": notification.default,
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
    """Return the envelope that `encoded` wrote. Raises ValueError if the data is no envelope."""
    try:
        data_read = json.loads(data)
        notification = Notification(
            id=_text(data_read["id"]),
            rule=NotificationRule(data_read["rule"]),
            title=_text(data_read["title"]),
            text=_text(data_read["text"]),
            at=float(data_read["at"]),
            task=_text(data_read["task"]),
            question=_text(data_read["question"]),
            # Older versions wrote these into the text.
            until=None if (until := data_read.get("until")) is None else float(until),
            default=_text(data_read.get("default", "")),
        )
        receipts = {_text(channel): _receipt(receipt) for channel, receipt in data_read["receipts"].items()}
        return Envelope(notification, receipts, _text(data_read["why"]))
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"is no notification: {error!r}") from error


def _receipt(data: Any) -> Receipt:  # noqa: ANN401 (whatever the file holds)
    return Receipt(
        _FORMER.get(data["standing"]) or Standing(data["standing"]),
        int(data["count"]),
        tuple(float(each) for each in data["tries"]),
        float(data["again_at"]),
        _text(data["reason"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value
