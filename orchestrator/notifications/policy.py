"""What is sent now, what waits, and until when. Pure: settings, envelopes and the time go in, a plan comes out.

Three things always hold. No channel gets more messages in an hour than it may. What may have been delivered is not
sent again, unless it is a question. Nothing is dropped; it is only put off until a stated time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from orchestrator.formats.channels import quiet_minutes
from orchestrator.formats.durations import render_duration
from orchestrator.model.notification import NotificationRule
from orchestrator.notifications.envelope import Envelope, Receipt, Standing
from orchestrator.ports.sender import SendOutcome, SendResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orchestrator.model.notification import Channel
    from orchestrator.model.notify_settings import NotifySettings

HOUR: Final = 3600.0
TOGETHER: Final = 10
"""The most notifications in one message. Nobody would read more, and some channels cut messages off."""

_TRIES_KEPT: Final = 20
_MINUTE: Final = 60
_DAY_MINUTES: Final = 1440
_LONGEST_QUIET: Final = 1600
"""Minutes: a day, and what the change to winter time adds."""

Tried = dict[str, tuple[float, ...]]
"""The times of the recent messages on each channel, by its name."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One message: what one channel gets now."""

    channel: Channel
    envelopes: tuple[Envelope, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """Until when one channel waits with an envelope, and why."""

    until: float
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with the waiting envelopes. `waits` is by notification id and channel name."""

    go: tuple[Batch, ...]
    over: tuple[Envelope, ...]
    waits: dict[tuple[str, str], Wait]

    @property
    def wake_at(self) -> float | None:
        """The time at which something is due next, or None."""
        return min((wait.until for wait in self.waits.values()), default=None)


def plan(
    settings: NotifySettings, envelopes: Sequence[Envelope], tried: Mapping[str, Sequence[float]], at: float
) -> Plan:
    """Return what is sent now, what is done, and what waits. `tried` holds at least the messages of the last hour."""
    go, over = list[Batch](), {envelope.notification.id: envelope for envelope in envelopes}
    waits: dict[tuple[str, str], Wait] = {}
    quiet_until = quiet_end(settings.quiet, at)
    for channel in settings.channels:
        wanted = [envelope for envelope in envelopes if _wanted(settings, channel, envelope)]
        due = {
            envelope.notification.id: _due(settings, envelope, channel, quiet_until, at)
            for envelope in wanted
        }
        ready = _ready(settings, wanted, due, tried.get(channel.name, ()), at)
        if ready:
            go.append(Batch(channel, tuple(ready)))
        going = {envelope.notification.id for envelope in ready}
        waits |= {
            (notification, channel.name): wait
            for notification, wait in due.items()
            if notification not in going
        }
        over = {notification: envelope for notification, envelope in over.items() if notification not in due}
    return Plan(tuple(go), tuple(over.values()), waits)


def claimed(envelope: Envelope, channel: str, at: float) -> Envelope:
    """Return an envelope as it is recorded before a channel gets it."""
    was = envelope.receipts.get(channel, Receipt(Standing.TRYING))
    tries = (*was.tries, at)[-_TRIES_KEPT:]
    return envelope.with_receipt(channel, Receipt(Standing.TRYING, was.count + 1, tries))


def answered(
    settings: NotifySettings, envelope: Envelope, channel: str, outcome: SendOutcome, at: float
) -> Envelope:
    """Return an envelope with the result of one try on a channel: done, or tried again after a growing pause.

    What may have been delivered is done, unless it is a question. A question is given up only for its age (law 4).
    """
    was = envelope.receipts[channel]
    standing = Standing(outcome.result.value)
    receipt = replace(was, standing=standing, reason=outcome.reason)
    if not _again(envelope, standing):
        return envelope.with_receipt(channel, receipt)
    age = at - envelope.notification.at
    longest = settings.give_up_question if envelope.asks else settings.give_up
    if age >= longest or (was.count >= settings.tries and not envelope.asks):
        why = f"given up after {was.count} tries: {outcome.reason}"
        return envelope.with_receipt(channel, replace(receipt, standing=Standing.GIVEN_UP, reason=why))
    pause = min(settings.retry_pause * 2.0 ** min(was.count - 1, 40), settings.max_retry_pause)
    return envelope.with_receipt(channel, replace(receipt, again_at=at + pause))


def left_behind(settings: NotifySettings, envelope: Envelope, at: float) -> Envelope:
    """Return an envelope whose sending was interrupted: nobody knows whether it was delivered."""
    unknown = SendOutcome(SendResult.UNKNOWN, "its sender was interrupted")
    for channel, receipt in envelope.receipts.items():
        if receipt.standing is Standing.TRYING:
            envelope = answered(settings, envelope, channel, unknown, at)
    return envelope


def failed(envelope: Envelope) -> bool:
    """Tell whether no channel at all took an envelope that is done."""
    standings = {receipt.standing for receipt in envelope.receipts.values()}
    return bool(standings) and standings <= {Standing.GIVEN_UP, Standing.REFUSED}


def result_of(envelope: Envelope) -> str:
    """Return what came of an envelope that is done: `delivered`, `failed`, `unknown`, or `not_sent` if none wanted it.

    It was delivered if any channel took it.
    """
    standings = {receipt.standing for receipt in envelope.receipts.values()}
    if Standing.DELIVERED in standings:
        return "delivered"
    if standings & {Standing.UNKNOWN, Standing.TRYING}:
        return "unknown"
    return "failed" if standings and not envelope.why else "not_sent"


def lately(tried: Mapping[str, Sequence[float]], at: float) -> Tried:
    """Return the tries within an hour of a time. Future ones count too: the clock may have been set back."""
    return {
        channel: kept
        for channel, times in tried.items()
        if (kept := tuple(t for t in times if abs(at - t) < HOUR))
    }


def quiet_end(quiet: str, at: float) -> float:
    """Return when the quiet hours around a time end; the time itself if it is in none.

    The search goes minute by minute on the local clock, so days of 23 or 25 hours need no special case.
    """
    span = quiet_minutes(quiet)
    if not _is_quiet(span, at):
        return at
    start = at - at % _MINUTE
    return next(
        moment for n in range(1, _LONGEST_QUIET) if not _is_quiet(span, moment := start + n * _MINUTE)
    )


# -------------------------------------------------------------------------------------------------


def _is_quiet(span: tuple[int, int], at: float) -> bool:
    begins, ends = span
    local = time.localtime(at)
    minute = local.tm_hour * 60 + local.tm_min
    return (minute - begins) % _DAY_MINUTES < (ends - begins) % _DAY_MINUTES


def _wanted(settings: NotifySettings, channel: Channel, envelope: Envelope) -> bool:
    """Tell whether a channel should (still) get an envelope."""
    rule = envelope.notification.rule
    if rule not in settings.rules or (channel.rules and rule not in channel.rules):
        return False
    receipt = envelope.receipts.get(channel.name)
    return receipt is None or _again(envelope, receipt.standing)


def _again(envelope: Envelope, standing: Standing) -> bool:
    return standing is Standing.REFUSED or (standing is Standing.UNKNOWN and envelope.asks)


def _due(
    settings: NotifySettings, envelope: Envelope, channel: Channel, quiet_until: float, at: float
) -> Wait:
    """Return when an envelope may go, by its own tries and by the quiet hours."""
    wait, receipt = Wait(at, ""), envelope.receipts.get(channel.name)
    if receipt is not None:
        # A time further off than the longest pause means that the clock was set back.
        again_at = receipt.again_at if receipt.again_at <= at + settings.max_retry_pause + _MINUTE else at
        wait = Wait(again_at, f"try {receipt.count + 1}, after: {receipt.reason}")
    if envelope.notification.rule not in settings.urgent and quiet_until > at:
        wait = _later(wait, Wait(quiet_until, f"quiet hours, {settings.quiet}"))
    return wait


def _ready(
    settings: NotifySettings, wanted: list[Envelope], due: dict[str, Wait], tried: Iterable[float], at: float
) -> list[Envelope]:
    """Return what a channel's message holds now; nothing if its time has not come. What waits says so in `due`.

    Urgent notifications do not wait for a digest, and take along what does.
    """
    times = sorted(min(each, at) for each in tried if abs(at - each) < HOUR)
    full, together = Wait(at, ""), Wait(at, "")
    if len(times) >= settings.per_hour:
        full = Wait(times[-settings.per_hour] + HOUR, f"{settings.per_hour} messages in an hour")
    if times:
        why = f"notifications within {render_duration(settings.digest)} are sent together"
        together = Wait(times[-1] + settings.digest, why)
    may_go = [envelope for envelope in wanted if due[envelope.notification.id].until <= at]
    presses = any(envelope.notification.rule in settings.urgent for envelope in may_go)
    gate = full if presses else _later(full, together)
    first = {NotificationRule.QUESTION, *settings.urgent}
    may_go.sort(key=lambda envelope: envelope.notification.rule not in first)
    ready = may_go[:TOGETHER] if gate.until <= at else []
    for envelope in may_go[len(ready) :]:
        due[envelope.notification.id] = (
            Wait(at + settings.digest, "more than one message holds") if ready else gate
        )
    for envelope in wanted:
        due[envelope.notification.id] = _later(due[envelope.notification.id], full)
    return ready


def _later(one: Wait, other: Wait) -> Wait:
    return max(one, other, key=lambda wait: wait.until)
