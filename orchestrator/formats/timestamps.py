"""Moments as people say them: `12:47`, on another day `Sun 22 Nov 12:47`. Imports `time` alone, for who is in haste.

What is journaled, or read at another time than it was written, bears its moment in UTC (`stamped`): whoever shows it
says it by the local clock of that time (`unstamped`).
"""

from __future__ import annotations

import time

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FORM = "0000-00-00T00:00:00Z "
_DIGITS = "0123456789"


def moment_said(at: float, now: float | None = None) -> str:
    """Return a moment in local time, with its day where that is another one than today.

    Args:
        at: The moment, in seconds since the epoch.
        now: The moment at which it is read; None if that is not known: then its day is always said.

    """
    try:
        then, today = time.localtime(at), None if now is None else time.localtime(now)
    except (OverflowError, ValueError, OSError):
        return "an unknown time"
    clock = f"{then.tm_hour:02}:{then.tm_min:02}"
    if today is not None and then[:3] == today[:3]:
        return clock
    year = f" {then.tm_year}" if today is None or then.tm_year != today.tm_year else ""
    return f"{_DAYS[then.tm_wday]} {then.tm_mday} {MONTHS[then.tm_mon - 1]}{year} {clock}"


def day_said(at: float) -> str:
    """Return the day of a moment (seconds since the epoch), in local time: `Sun 22 Nov 2026`."""
    return moment_said(at).rpartition(" ")[0]


def rfc3339(at: float) -> str:
    """Return a moment (seconds since the epoch) as RFC 3339 has it, in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def stamped(at: float, text: str) -> str:
    """Return a text that begins with its moment, in UTC. Pure: the same wherever it is written."""
    return f"{rfc3339(at)} {text}"


def unstamped(text: str, now: float) -> str:
    """Return a text with the moment that it begins with as a person says it now; as it is, if it has none."""
    at, bare = parted(text)
    return text if at is None else f"{moment_said(at, now)} {bare}"


def parted(text: str) -> tuple[float | None, str]:
    """Return the moment that a text begins with, and the rest; None, if it has no stamp."""
    stamp = text[: len(_FORM)]
    if "".join("0" if sign in _DIGITS else sign for sign in stamp) != _FORM:
        return None, text
    year, month, day = int(stamp[:4]), int(stamp[5:7]), int(stamp[8:10])
    at = (
        86_400 * _days(year, month, day)
        + 3600 * int(stamp[11:13])
        + 60 * int(stamp[14:16])
        + int(stamp[17:19])
    )
    return float(at), text[len(_FORM) :]


def _days(year: int, month: int, day: int) -> int:
    """Return the days from 1 January 1970 to a date of the calendar; years begin in March here, to end in February."""
    year, month = (year - 1, month + 9) if month < 3 else (year, month - 3)  # noqa: PLR2004 (March)
    leaps = year // 4 - year // 100 + year // 400
    return 365 * year + leaps + (153 * month + 2) // 5 + day - 719_469
