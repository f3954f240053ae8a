"""Of which days the observer's report is due. Pure; days are UTC, the time at which a report is written is local."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.coordination import iso, moment

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

DAY: Final = 86_400.0

MOST: Final = 7
"""Days of which a report that was missed is still written."""


def minute_of(time: str) -> int:
    """Return the minute of the day that `HH:MM` is."""
    hours, _, minutes = time.partition(":")
    return int(hours) * 60 + int(minutes)


def due_day(now: float, minute: int, ahead: Callable[[float], float]) -> str:
    """Return the newest day of which a report should be there: the last full one when its time came.

    Args:
        now: The present moment, in seconds since the epoch.
        minute: At which minute of the local day reports are written.
        ahead: By how many seconds local time is ahead of UTC at a moment.

    """
    local = now + ahead(now)
    came = local - local % DAY + minute * 60
    if came > local:
        came -= DAY
    return iso(came - ahead(came - ahead(now)) - DAY)[:10]


def missing_days(due: str, written: Collection[str]) -> tuple[str, ...]:
    """Return the days of which a report is to be written, the earliest first.

    These are the day that is due and, where there are reports already, those before it that have none since the newest
    of these: the daemon was down then. At most `MOST` days.
    """
    newest = max((day for day in written if day <= due), default="")
    end = moment(f"{due}T00:00:00Z") or 0.0
    days = [iso(end - number * DAY)[:10] for number in reversed(range(MOST if newest else 1))]
    return tuple(day for day in days if day > newest)
