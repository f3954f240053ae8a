"""Delivery: read the spool, send what is due, record what came of it.

Before an envelope goes to a channel, its receipt on the disk says so. If the process is killed between that and the
answer, nobody knows whether the message was sent. A question is then sent again, under the same id; any other
notification is not (law 4).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.notification import Notification
from orchestrator.notifications import policy
from orchestrator.notifications.envelope import Envelope, Standing
from orchestrator.notifications.spool import DELIVERED, FAILED, FOLDERS, NEW, Spool
from orchestrator.notifications.wording import message

if TYPE_CHECKING:
    from orchestrator.model.notify_settings import NotifySettings
    from orchestrator.ports.clock import Clock
    from orchestrator.ports.sender import Sender, SendOutcome

log = logging.getLogger(__name__)

APART: Final = 1e-6
"""The least number of seconds between two messages on one channel."""


def _always(_: Notification) -> bool:
    return True


@dataclass(slots=True)
class Delivery:
    """Sends what lies in a spool. Only one thread may use it at a time.

    `asks` tells whether a question still waits for its answer. A question that was answered is not sent any more.
    """

    spool: Spool
    settings: NotifySettings
    sender: Sender
    clock: Clock
    asks: Callable[[Notification], bool] = _always
    _tried: policy.Tried | None = field(default=None)

    def go(self, only: str = "") -> float | None:
        """Send what is due, and return the wall-clock time at which something is due next, or None.

        Args:
            only: Send nothing but the notification with this id; empty for all.

        Raises:
            OSError: The disk failed. What was sent and could not be recorded counts as unknown.

        """
        while True:
            at = self.clock.now()
            waiting = [
                envelope for envelope in self.spool.waiting() if only in {"", envelope.notification.id}
            ]
            envelopes = [now for envelope in waiting if (now := self._current(envelope, at)) is not None]
            self._tried = policy.lately(self._remembered(), at)
            plan = policy.plan(self.settings, envelopes, self._tried, at)
            for envelope in plan.over:
                self._lay_aside(envelope)
            if plan.over:
                self.spool.prune(self.settings.kept)
            if not plan.go:
                return plan.wake_at
            self._send(plan.go, at)

    def _send(self, batches: tuple[policy.Batch, ...], at: float) -> None:
        current: dict[str, Envelope] = {}
        for batch in batches:
            # Each message has a time of its own, so that a restarted process can count the messages.
            lately = self._remembered().get(batch.channel.name, ())
            moment = max([at, *(last + APART for last in lately if abs(last - at) < 1.0)])
            for envelope in batch.envelopes:
                claimed = policy.claimed(
                    current.get(envelope.notification.id, envelope), batch.channel.name, moment
                )
                current[envelope.notification.id] = claimed
            self._note(batch.channel.name, moment)
        for envelope in current.values():
            self.spool.keep(envelope)
        messages = [
            message(batch.channel, [envelope.notification for envelope in batch.envelopes], at)
            for batch in batches
        ]
        outcomes = self.sender.send(messages)
        at = self.clock.now()
        for batch, outcome in zip(batches, outcomes, strict=True):
            for envelope in batch.envelopes:
                was = current[envelope.notification.id]
                now = policy.answered(self.settings, was, batch.channel.name, outcome, at)
                current[envelope.notification.id] = now
                _say(now, batch.channel.name, outcome)
        for envelope in current.values():
            self.spool.keep(envelope)

    def _current(self, envelope: Envelope, at: float) -> Envelope | None:
        """Return an envelope as it stands now, or None if its question was answered.

        A claim that a killed process left behind becomes unknown.
        """
        for channel, receipt in envelope.receipts.items():
            if receipt.standing is Standing.TRYING:
                again = "it is sent again" if envelope.asks else "it is not sent again"
                log.warning(
                    "%s: it is not known whether %s delivered it; %s",
                    envelope.notification.id,
                    channel,
                    again,
                )
        now = policy.left_behind(self.settings, envelope, at)
        if now != envelope:
            self.spool.keep(now)
            envelope = now
        if envelope.asks and not self.asks(envelope.notification):
            self._lay_aside(replace(envelope, why="it was answered"))
            return None
        return envelope

    def _lay_aside(self, envelope: Envelope) -> None:
        if not envelope.receipts and not envelope.why:
            envelope = replace(envelope, why="no channel is set for it")
        self.spool.lay_aside(envelope, FAILED if policy.failed(envelope) and not envelope.why else DELIVERED)

    def _note(self, channel: str, at: float) -> None:
        tried = self._remembered()
        self._tried = {**tried, channel: (*tried.get(channel, ()), at)}

    def _remembered(self) -> policy.Tried:
        """Return when each channel was tried recently. After a start the spool says so."""
        if self._tried is None:
            found: dict[str, set[float]] = {}
            for where in FOLDERS:
                for envelope in self.spool.over(where) if where != NEW else ():
                    for channel, receipt in envelope.receipts.items():
                        # Notifications that went in one message were tried at the same time.
                        found.setdefault(channel, set()).update(receipt.tries)
            self._tried = {channel: tuple(sorted(times)) for channel, times in found.items()}
        return self._tried


def _say(envelope: Envelope, channel: str, outcome: SendOutcome) -> None:
    """Log what did not go well."""
    receipt = envelope.receipts[channel]
    match receipt.standing:
        case Standing.GIVEN_UP:
            log.error(
                "%s (%s) was not delivered by %s: %s",
                envelope.notification.id,
                envelope.notification.title,
                channel,
                receipt.reason,
            )
        case Standing.REFUSED if receipt.count == 1:
            log.warning(
                "%s is not delivered by %s yet: %s", envelope.notification.id, channel, outcome.reason
            )
        case Standing.UNKNOWN:
            log.warning(
                "%s: it is not known whether %s delivered it: %s",
                envelope.notification.id,
                channel,
                outcome.reason,
            )
        case Standing.REFUSED | Standing.DELIVERED | Standing.TRYING:
            return
