"""When a limit ends, from what agent programs print of it.

Seen: Claude `resets 3pm (Europe/Berlin)` and, in older ones, `…|1763650800`; Codex `try again at 3:05 PM`; Gemini
`Access resets at 11:11 AM UTC.` and `will reset after 2h30m5s`; OpenAI's API `Please try again in 20s`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

DAY: Final = 86400.0
FURTHEST: Final = 8 * DAY

_TEXT: Final = 20_000
_LAST_EPOCH: Final = 253_402_300_799.0
_MILLISECONDS: Final = 100_000_000_000
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY, "w": 7 * DAY}
_UNIT: Final = (
    r"(?:milliseconds?|ms|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)"
)
_COUNT: Final = r"[0-9]{1,9}(?:\.[0-9]{1,6})?"
_PART: Final = re.compile(rf"({_COUNT})[ ]?({_UNIT})(?![a-z])", re.IGNORECASE)
_SPAN: Final = re.compile(
    r"(?:^[ ]?|\b(?:again|retry|resets?|available|limit)\b[^.;:|]{0,40}?\b)(?:in|after)[ :]+(?:about )?"
    rf"((?:{_COUNT}[ ]?{_UNIT}(?![a-z])[ ,]{{0,2}}(?:and )?){{1,6}})",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(
    rf"retry[-_ ]after[\"']?[ :=]+[\"']?({_COUNT})(?![0-9.]|[ ]?[a-z])", re.IGNORECASE
)
_EPOCH: Final = re.compile(
    r"(?:\||\b(?:resets?[_ ]?(?:at)?|until)[\"']?[ :=]+[\"']?)([0-9]{10}|[0-9]{13})(?![0-9])", re.IGNORECASE
)
_ISO: Final = re.compile(
    r"\b([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:\.[0-9]{1,9})?[ ]?"
    r"(Z\b|UTC\b|[+-][0-9]{2}:?[0-9]{2})?"
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_CLOCK: Final = re.compile(
    r"\b(?:resets?|again|until|available|back|ends?)\b"
    r"(?:[ ](?:access|is|at|on|by|your|limit|it|will|reset)){0,4}[ ]+(?:at |on )?"
    rf"(?:(?P<weekday>{'|'.join(_DAYS)})[a-z]{{0,6}},? )?"
    rf"(?:(?P<month>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.? (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?"
    r"(?:, (?P<year>[0-9]{4}))?,? (?:at )?|(?P<tomorrow>tomorrow),? (?:at )?|at )?"
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2})(?::[0-9]{2})?)?[  ]?(?P<half>[ap]\.?m\b\.?)?"
    r"[  ]*(?:\((?P<zone>[^()]{1,60})\)|(?P<short>UTC|GMT|Z)\b)?",
    re.IGNORECASE,
)


def reset_time(text: str, now: float) -> float | None:
    """Return when a limit ends of which a program told, in seconds since the epoch; None if it does not say.

    Args:
        text: What the program printed, or an error's message. The last time that is told in it counts.
        now: The time at which it was told. Never is a time in the past returned, nor one more than 8 days ahead.

    """
    if not math.isfinite(now) or not 0 <= now <= _LAST_EPOCH - FURTHEST:
        return None
    shown = re.sub(r"\s+", " ", text[-_TEXT:])
    for find in _WAYS:
        found = [at for at in find(shown, now) if now < at <= now + FURTHEST]
        if found:
            return found[-1]
    return None


def _epochs(text: str, _now: float) -> Iterator[float]:
    for found in _EPOCH.finditer(text):
        count = int(found[1])
        yield count / 1000 if count > _MILLISECONDS else float(count)


def _dates(text: str, _now: float) -> Iterator[float]:
    for found in _ISO.finditer(text):
        zone = (found[3] or "").replace("UTC", "+00:00").replace("Z", "+00:00")
        with suppress(ValueError, OverflowError, OSError):
            yield datetime.fromisoformat(f"{found[1]}T{found[2]}{zone}").timestamp()


def _spans(text: str, now: float) -> Iterator[float]:
    for found in _SPAN.finditer(text):
        yield now + sum(float(count) * _UNITS[_unit(unit)] for count, unit in _PART.findall(found[1]))
    for found in _HEADER.finditer(text):
        yield now + float(found[1])


def _clocks(text: str, now: float) -> Iterator[float]:
    for found in _CLOCK.finditer(text):
        with suppress(KeyError, ValueError, OverflowError, OSError):
            yield from _shown_next(found, now)


_WAYS: Final[tuple[Callable[[str, float], Iterator[float]], ...]] = (_epochs, _dates, _spans, _clocks)


def _unit(word: str) -> str:
    word = word.lower()
    return "ms" if word.startswith(("ms", "milli")) else word[0]


def _shown_next(found: re.Match[str], now: float) -> Iterator[float]:
    """Return the next moment at which a clock on the wall shows what was told. Raises what `_zone` does.

    A time that comes twice in a night is the first of both that is ahead; one that is left out, an hour later.
    """
    if not found["half"] and not found["minute"]:
        return
    told = found["hour"] + ":" + (found["minute"] or "00") + (found["half"] or "").replace(".", "")
    clock = datetime.strptime(told, "%I:%M%p" if found["half"] else "%H:%M").time()  # noqa: DTZ007 (its zone follows)
    zone = _zone(found["zone"] or found["short"] or "")
    today = datetime.fromtimestamp(now, zone)
    for days in range(9):
        day = today.date() + timedelta(days=days)
        if not _is_meant(found, day, ahead=days):
            continue
        for fold in (0, 1):
            at = datetime.combine(day, clock.replace(fold=fold), zone).timestamp()
            if at > now:
                yield at
                return


def _is_meant(found: re.Match[str], day: date, *, ahead: int) -> bool:
    """Return whether a day, so many days ahead, is one of which the text speaks."""
    return (
        (found["tomorrow"] is None or ahead == 1)
        and (found["weekday"] is None or _DAYS[day.weekday()] == found["weekday"].lower())
        and (found["month"] is None or _MONTHS[day.month - 1] == found["month"].lower())
        and (found["day"] is None or day.day == int(found["day"]))
        and (found["year"] is None or day.year == int(found["year"]))
    )


def _zone(name: str) -> tzinfo | None:
    """Return the zone of a name, None for the user's own. Raises KeyError, ValueError, OSError, OverflowError."""
    if not name:
        return None
    return UTC if name.upper() in {"UTC", "GMT", "Z"} else ZoneInfo(name)
