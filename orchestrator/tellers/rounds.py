"""A round: look into the spool, tell what is due, write down what became of it.

Before a letter is given to a channel its receipt says so on the disk. A kill from there to the answer leaves it
unknown whether it was told: then a question is told again, under the same id, and other news never (law 4).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.news import News
from orchestrator.tellers import policy
from orchestrator.tellers.letter import Letter, Standing
from orchestrator.tellers.spool import FAILED, FOLDERS, NEW, TOLD, Spool
from orchestrator.tellers.wording import message

if TYPE_CHECKING:
    from orchestrator.model.settings import NotifySettings
    from orchestrator.ports.clock import Clock
    from orchestrator.ports.teller import Outcome, Teller

log = logging.getLogger(__name__)

APART: Final = 1e-6
"""Seconds between two messages of one channel, at the least."""


def _always(_: News) -> bool:
    return True


@dataclass(slots=True)
class Rounds:
    """Tells what lies in a spool. One thread at a time.

    `asks` says whether a question still waits for its answer: one that does not is not told any more.
    """

    spool: Spool
    settings: NotifySettings
    teller: Teller
    clock: Clock
    asks: Callable[[News], bool] = _always
    _tried: policy.Tried | None = field(default=None)

    def go(self, only: str = "") -> float | None:
        """Tell what is due (of `only` the news of this id); return when something will be, by the wall clock.

        Raises:
            OSError: the disk would not. What was sent and could not be written down is unknown.

        """
        while True:
            at = self.clock.now()
            waiting = [letter for letter in self.spool.waiting() if only in {"", letter.news.id}]
            letters = [now for letter in waiting if (now := self._current(letter, at)) is not None]
            self._tried = policy.lately(self._remembered(), at)
            plan = policy.plan(self.settings, letters, self._tried, at)
            for letter in plan.over:
                self._lay_aside(letter)
            if plan.over:
                self.spool.prune(self.settings.kept)
            if not plan.go:
                return plan.wake_at
            self._send(plan.go, at)

    def _send(self, batches: tuple[policy.Batch, ...], at: float) -> None:
        current: dict[str, Letter] = {}
        for batch in batches:
            # A moment of its own for each message: after a restart that tells how many there were.
            lately = self._remembered().get(batch.channel.name, ())
            moment = max([at, *(last + APART for last in lately if abs(last - at) < 1.0)])
            for letter in batch.letters:
                claimed = policy.claimed(current.get(letter.news.id, letter), batch.channel.name, moment)
                current[letter.news.id] = claimed
            self._note(batch.channel.name, moment)
        for letter in current.values():
            self.spool.keep(letter)
        messages = [
            message(batch.channel, [letter.news for letter in batch.letters], at) for batch in batches
        ]
        outcomes = self.teller.send(messages)
        at = self.clock.now()
        for batch, outcome in zip(batches, outcomes, strict=True):
            for letter in batch.letters:
                was = current[letter.news.id]
                now = policy.answered(self.settings, was, batch.channel.name, outcome, at)
                current[letter.news.id] = now
                _say(now, batch.channel.name, outcome)
        for letter in current.values():
            self.spool.keep(letter)

    def _current(self, letter: Letter, at: float) -> Letter | None:
        """Return a letter as it now stands: a claim that was left behind is unknown. None: nobody asks any more."""
        for channel, receipt in letter.receipts.items():
            if receipt.standing is Standing.TRYING:
                again = "it is told again" if letter.asks else "it is not told again"
                log.warning("%s: whether %s was told is not known; %s", letter.news.id, channel, again)
        now = policy.left_behind(self.settings, letter, at)
        if now != letter:
            self.spool.keep(now)
            letter = now
        if letter.asks and not self.asks(letter.news):
            self._lay_aside(replace(letter, why="it was answered"))
            return None
        return letter

    def _lay_aside(self, letter: Letter) -> None:
        if not letter.receipts and not letter.why:
            letter = replace(letter, why="no channel is set for it")
        self.spool.lay_aside(letter, FAILED if policy.failed(letter) and not letter.why else TOLD)

    def _note(self, channel: str, at: float) -> None:
        tried = self._remembered()
        self._tried = {**tried, channel: (*tried.get(channel, ()), at)}

    def _remembered(self) -> policy.Tried:
        """Return when channels were tried of late; after a start, from what the spool says."""
        if self._tried is None:
            found: dict[str, set[float]] = {}
            for where in FOLDERS:
                for letter in self.spool.over(where) if where != NEW else ():
                    for channel, receipt in letter.receipts.items():
                        # News that went in one message were tried at one moment.
                        found.setdefault(channel, set()).update(receipt.tries)
            self._tried = {channel: tuple(sorted(times)) for channel, times in found.items()}
        return self._tried


def _say(letter: Letter, channel: str, outcome: Outcome) -> None:
    """Leave a line in the log of what did not go well."""
    receipt = letter.receipts[channel]
    match receipt.standing:
        case Standing.GIVEN_UP:
            log.error(
                "%s (%s) was not told by %s: %s", letter.news.id, letter.news.title, channel, receipt.reason
            )
        case Standing.REFUSED if receipt.count == 1:
            log.warning("%s is not told by %s yet: %s", letter.news.id, channel, outcome.reason)
        case Standing.UNKNOWN:
            log.warning("%s: whether %s was told is not known: %s", letter.news.id, channel, outcome.reason)
        case Standing.REFUSED | Standing.TOLD | Standing.TRYING:
            return
