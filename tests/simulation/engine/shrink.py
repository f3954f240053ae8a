"""Shrinks a failure to what leads to it: fewer days, fewer tasks, fewer faults."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.simulation.engine.fault_schedule import FaultSchedule
from tests.simulation.engine.kept_worlds import Kept
from tests.simulation.engine.run import Failed, simulate_world

TRIES: Final = 120
_ODD: Final = re.compile(r"'[^']*'|\S*[0-9:]\S*")


@dataclass(frozen=True, slots=True)
class History:
    """A shrunk failure that can be replayed: the seed, the days, and the events that lead to it.

    law: the broken law. happened: the events with their days. of: the number of events before. tries: the number of
    worlds that it took.
    """

    seed: str
    days: float
    law: str
    happened: dict[str, float]
    of: int
    tries: int

    @property
    def command(self) -> str:
        """The command that replays it."""
        only = shlex.quote(",".join(sorted(self.happened)))
        return f"scripts/simulate --seed {shlex.quote(self.seed)} --days {self.days!r} --only {only}"

    @property
    def kept(self) -> Kept:
        """The world with these events alone, as it is kept."""
        return Kept(self.seed, self.days, frozenset(self.happened))

    def __str__(self) -> str:
        when = sorted(self.happened.items(), key=lambda each: each[1])
        lines = [f"  day {day:8.4f}  {name}" for name, day in when]
        head = f"of {self.of} events, {len(lines)} are enough ({self.tries} worlds tried):"
        return "\n".join(
            [head, *lines, f"  then: {self.law}", f"again: {self.command}", f"keep it: {self.kept.how}"]
        )


class _Spent(Exception):
    """No more worlds may be tried."""


def shrunk(failed: Failed, days: float, schedule: FaultSchedule | None = None, tries: int = TRIES) -> History:
    """Return the smallest history found that breaks the same law. `days` is how long the world was to run.

    Events are left out by halves, quarters and so on (ddmin); those that no longer occur before the failure drop out by
    themselves. Each world runs only until it fails.
    """
    shrinking = _Shrinking(failed, days, schedule, tries)
    try:
        shrinking.halve_the_days()
        shrinking.leave_out()
    except _Spent:
        pass
    best = shrinking.best
    return History(best.seed, shrinking.days, best.law, best.happened, len(failed.happened), shrinking.tried)


class _Shrinking:
    def __init__(self, failed: Failed, days: float, schedule: FaultSchedule | None, tries: int) -> None:
        self.best = failed
        self.days = days
        self.tried = 0
        self._tries = tries
        self._schedule = schedule
        self._law = kind_of(failed.law)
        self._end_with_it()

    def halve_the_days(self) -> None:
        """Halve the days for as long as the world still fails."""
        while self.days > 0.05 and self._fails(set(self.best.happened), self.days / 2):
            continue

    def leave_out(self) -> None:
        """Leave out a part of the events, or all but a part, while the world still fails; then smaller parts."""
        parts = 2
        while len(names := list(self.best.happened)) > 1:
            size = -(-len(names) // parts)
            chunks = [names[at : at + size] for at in range(0, len(names), size)]
            if self._any(set, chunks) and parts > 2:
                parts = 2
            elif self._any(lambda chunk: set(names).difference(chunk), chunks):
                parts = max(parts - 1, 2)
            elif size == 1:
                return
            else:
                parts = min(parts * 2, len(names))

    def _any(self, kept: Callable[[list[str]], set[str]], chunks: list[list[str]]) -> bool:
        return any(self._fails(kept(chunk), self.days) for chunk in chunks)

    def _fails(self, only: set[str], days: float) -> bool:
        """Return whether a world with these events alone breaks the same law. If so, it is the best so far."""
        if self.tried >= self._tries:
            raise _Spent
        self.tried += 1
        try:
            simulate_world(self.best.seed, days, frozenset(only), self._schedule)
        except Failed as failed:
            if kind_of(failed.law) == self._law:
                self.best, self.days = failed, days
                self._end_with_it()
                return True
        return False

    def _end_with_it(self) -> None:
        """Drop the days after the failure."""
        self.days = min(self.days, round(self.best.day + 0.01, 2))


def kind_of(law: str) -> str:
    """Return the kind of a broken law: its text without names and numbers."""
    return _ODD.sub("…", law.partition("; ")[0])
