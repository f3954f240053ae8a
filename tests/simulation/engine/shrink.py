"""A failure, told with as little as leads to it: fewer days, fewer tasks, fewer things that go wrong."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.simulation.engine.fault_schedule import FaultSchedule
from tests.simulation.engine.kept_worlds import Kept
from tests.simulation.engine.run import Failed, live

TRIES: Final = 120
_ODD: Final = re.compile(r"'[^']*'|\S*[0-9:]\S*")


@dataclass(frozen=True, slots=True)
class History:
    """A failure that can be replayed: the seed, the days to live, and the names of all that need happen.

    `law` is what is broken, `happened` what happens on which day, `tries` how many worlds it took to find this.
    """

    seed: str
    days: float
    law: str
    happened: dict[str, float]
    of: int
    tries: int

    @property
    def command(self) -> str:
        """What replays it."""
        only = shlex.quote(",".join(sorted(self.happened)))
        return f"scripts/simulate --seed {shlex.quote(self.seed)} --days {self.days!r} --only {only}"

    @property
    def kept(self) -> Kept:
        """The world with only this, as it is kept."""
        return Kept(self.seed, self.days, frozenset(self.happened))

    def __str__(self) -> str:
        when = sorted(self.happened.items(), key=lambda each: each[1])
        lines = [f"  day {day:8.4f}  {name}" for name, day in when]
        head = f"of {self.of} things that happened, {len(lines)} are enough ({self.tries} worlds tried):"
        return "\n".join(
            [head, *lines, f"  then: {self.law}", f"again: {self.command}", f"keep it: {self.kept.how}"]
        )


class _Spent(Exception):
    """No more worlds may be tried."""


def shrunk(failed: Failed, days: float, climate: FaultSchedule | None = None, tries: int = TRIES) -> History:
    """Return the smallest history found that breaks the same law. `days` is how long the world was to live.

    Names are left out by halves, quarters and so on (ddmin); what does not happen any more before the failure
    goes by itself. The world is not watched for longer than it takes to fail.
    """
    shrinking = _Shrinking(failed, days, climate, tries)
    try:
        shrinking.halve_the_days()
        shrinking.leave_out()
    except _Spent:
        pass
    best = shrinking.best
    return History(best.seed, shrinking.days, best.law, best.happened, len(failed.happened), shrinking.tried)


class _Shrinking:
    def __init__(self, failed: Failed, days: float, climate: FaultSchedule | None, tries: int) -> None:
        self.best = failed
        self.days = days
        self.tried = 0
        self._tries = tries
        self._climate = climate
        self._law = kind_of(failed.law)
        self._end_with_it()

    def halve_the_days(self) -> None:
        """Let the world live for half as long, while it still fails."""
        while self.days > 0.05 and self._fails(set(self.best.happened), self.days / 2):
            continue

    def leave_out(self) -> None:
        """Leave out a part of the names, or all but a part, while it still fails; then smaller parts."""
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
        """Tell whether a world with only this breaks the same law, and then take it as the best."""
        if self.tried >= self._tries:
            raise _Spent
        self.tried += 1
        try:
            live(self.best.seed, days, frozenset(only), self._climate)
        except Failed as failed:
            if kind_of(failed.law) == self._law:
                self.best, self.days = failed, days
                self._end_with_it()
                return True
        return False

    def _end_with_it(self) -> None:
        """What comes after the failure is nobody's concern."""
        self.days = min(self.days, round(self.best.day + 0.01, 2))


def kind_of(law: str) -> str:
    """Return what a broken law says apart from who broke it: no names, no numbers."""
    return _ODD.sub("…", law.partition("; ")[0])
