"""A round: look into the spool, tell what is due, write down what became of it.

Before a letter is given to a channel its receipt says so on the disk. A kill from there to the answer leaves it
unknown whether it was told: then a question is told again, under the same id, and other news never (law 4).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.notification import Notification
from orchestrator.notifications import policy
from orchestrator.notifications.envelope import Envelope, Standing
from orchestrator.notifications.spool import FAILED, FOLDERS, NEW, TOLD, Spool
from orchestrator.notifications.wording import message

if TYPE_CHECKING:
    from orchestrator.model.settings import NotifySettings
    from orchestrator.ports.clock import Clock
    from orchestrator.ports.sender import Sender, SendOutcome

log = logging.getLogger(__name__)

APART: Final = 1e-6
"""Seconds between two messages of one channel, at the least."""


def _always(_: Notification) -> bool:
    return True


@dataclass(slots=True)
class Delivery:
    """Tells what lies in a spool. One thread at a time.

    `asks` says whether a question still waits for its answer: one that does not is not told any more.
    """

    spool: Spool
    settings: NotifySettings
    sender: Sender
    clock: Clock
    asks: Callable[[Notification], bool] = _always
    _tried: policy.Tried | None = field(default=None)

    def go(self, only: str = "") -> float | None:
        """Tell what is due (of `only` the news of this id); return when something will be, by the wall clock.

        Raises:
            OSError: the disk would not. What was sent and could not be written down is unknown.

        """
        while True:
            at = self.clock.now()
            waiting = [envelope for envelope in self.spool.waiting() if only in {"", envelope.news.id}]
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
            # A moment of its own for each message: after a restart that tells how many there were.
            lately = self._remembered().get(batch.channel.name, ())
            moment = max([at, *(last + APART for last in lately if abs(last - at) < 1.0)])
            for envelope in batch.envelopes:
                claimed = policy.claimed(current.get(envelope.news.id, envelope), batch.channel.name, moment)
                current[envelope.news.id] = claimed
            self._note(batch.channel.name, moment)
        for envelope in current.values():
            self.spool.keep(envelope)
        messages = [
            message(batch.channel, [envelope.news for envelope in batch.envelopes], at) for batch in batches
        ]
        outcomes = self.sender.send(messages)
        at = self.clock.now()
        for batch, outcome in zip(batches, outcomes, strict=True):
            for envelope in batch.envelopes:
                was = current[envelope.news.id]
                now = policy.answered(self.settings, was, batch.channel.name, outcome, at)
                current[envelope.news.id] = now
                _say(now, batch.channel.name, outcome)
        for envelope in current.values():
            self.spool.keep(envelope)

    def _current(self, envelope: Envelope, at: float) -> Envelope | None:
        """Return a letter as it now stands: a claim that was left behind is unknown. None: nobody asks any more."""
        for channel, receipt in envelope.receipts.items():
            if receipt.standing is Standing.TRYING:
                again = "it is told again" if envelope.asks else "it is not told again"
                log.warning("%s: whether %s was told is not known; %s", envelope.news.id, channel, again)
        now = policy.left_behind(self.settings, envelope, at)
        if now != envelope:
            self.spool.keep(now)
            envelope = now
        if envelope.asks and not self.asks(envelope.news):
            self._lay_aside(replace(envelope, why="it was answered"))
            return None
        return envelope

    def _lay_aside(self, envelope: Envelope) -> None:
        if not envelope.receipts and not envelope.why:
            envelope = replace(envelope, why="no channel is set for it")
        self.spool.lay_aside(envelope, FAILED if policy.failed(envelope) and not envelope.why else TOLD)

    def _note(self, channel: str, at: float) -> None:
        tried = self._remembered()
        self._tried = {**tried, channel: (*tried.get(channel, ()), at)}

    def _remembered(self) -> policy.Tried:
        """Return when channels were tried of late; after a start, from what the spool says."""
        if self._tried is None:
            found: dict[str, set[float]] = {}
            for where in FOLDERS:
                for envelope in self.spool.over(where) if where != NEW else ():
                    for channel, receipt in envelope.receipts.items():
                        # News that went in one message were tried at one moment.
                        found.setdefault(channel, set()).update(receipt.tries)
            self._tried = {channel: tuple(sorted(times)) for channel, times in found.items()}
        return self._tried


def _say(envelope: Envelope, channel: str, outcome: SendOutcome) -> None:
    """Leave a line in the log of what did not go well."""
    receipt = envelope.receipts[channel]
    match receipt.standing:
        case Standing.GIVEN_UP:
            log.error(
                "%s (%s) was not told by %s: %s",
                envelope.news.id,
                envelope.news.title,
                channel,
                receipt.reason,
            )
        case Standing.REFUSED if receipt.count == 1:
            log.warning("%s is not told by %s yet: %s", envelope.news.id, channel, outcome.reason)
        case Standing.UNKNOWN:
            log.warning("%s: whether %s was told is not known: %s", envelope.news.id, channel, outcome.reason)
        case Standing.REFUSED | Standing.TOLD | Standing.TRYING:
            return
