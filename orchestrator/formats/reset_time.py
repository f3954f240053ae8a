r"""When a usage limit ends, read from the text that agent programs print.

Seen: Claude `resets 3pm (Europe/Berlin)`, `resets Nov 25, 10:52am (…)` where that is more than a day ahead, and in
older ones `…|1763650800`; Codex `try again at 3:05 PM`, in the zone of its machine, and from another day on `try again
at Nov 24th, 2026 3:05 PM`; Gemini `Access resets at 11:11 AM GMT+1.` and `will reset after 2h30m5s`; OpenAI's API
`Please try again in 20s`.

All of them omit everything below the smallest unit they show, so a limit ends up to a minute later than the text says
(measured).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Final, Literal, TypeAlias
from zoneinfo import ZoneInfo

from orchestrator.model.usage_limit import Reset

DAY: Final = 86400.0
FURTHEST: Final = 40 * DAY
"""Seconds: how far ahead a limit may end. Monthly limits are the longest."""

PAST: Final = 900.0
"""Seconds: how long ago a limit may have ended by its text, as services lift it late and clocks differ."""

_TEXT: Final = 20_000
_LAST_EPOCH: Final = 253_402_300_799.0
_MILLISECONDS: Final = 100_000_000_000
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY, "w": 7 * DAY}
_EXACT: Final = 1.0
"""Seconds; a unit this small causes no rounding that matters."""

_UNIT: Final = (
    r"(?:milliseconds?|ms|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)"
)
_COUNT: Final = r"[0-9]{1,9}(?:\.[0-9]{1,6})?"
_PART: Final = re.compile(rf"({_COUNT})[ ]?({_UNIT})(?![a-z])", re.IGNORECASE)
_SPAN: Final = re.compile(
    r"(?:^[ ]?|\b(?:again|retry|resets?|available|limit)\b[^.;:|]{0,40}?\b)(?:in|after)[ :]+(?:about )?"
    rf"((?:{_COUNT}[ ]?{_UNIT}(?![a-z])[ ,]{{0,2}}(?:and )?){{1,6}}|(?P<soon>less than a minute))",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(
    rf"retry[-_ ]after[\"']?[ :=]+[\"']?({_COUNT})(?![0-9.]|[ ]?[a-z])", re.IGNORECASE
)
_EPOCH: Final = re.compile(
    r"(?:\||\b(?:resets?[_ ]?(?:at)?|until)[\"']?[ :=]+[\"']?)([0-9]{10}|[0-9]{13})(?![0-9])", re.IGNORECASE
)
_ISO: Final = re.compile(
    r"\b([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}(:[0-9]{2})?)(?:\.[0-9]{1,9})?[ ]?"
    r"(Z\b|UTC\b|[+-][0-9]{2}:?[0-9]{2})?"
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_OFFSETS: Final = {
    "UTC": 0,
    "GMT": 0,
    "Z": 0,
    "EDT": -4,
    "EST": -5,
    "CDT": -5,
    "CST": -6,
    "MDT": -6,
    "MST": -7,
    "PDT": -7,
    "PST": -8,
    "AKDT": -8,
    "AKST": -9,
    "HST": -10,
}
"""Zones that JavaScript prints by name in American English; others appear as GMT+1."""

_OFFSET: Final = re.compile(r"(?:UTC|GMT)?([+-])([0-9]{1,2})(?::?([0-9]{2}))?", re.IGNORECASE)
_CLOCK: Final = re.compile(
    r"\b(?:resets?|again|until|available|back|ends?)\b"
    r"(?:[ ](?:access|is|at|on|by|your|limit|it|will|reset)){0,4}[ ]+(?:at |on )?"
    rf"(?:(?P<weekday>{'|'.join(_DAYS)})[a-z]{{0,6}},? )?"
    rf"(?:(?P<month>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.? (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?"
    r"(?:, (?P<year>[0-9]{4}))?,? (?:at )?|(?P<tomorrow>tomorrow),? (?:at )?|at )?"
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?)?[  ]?(?P<half>[ap]\.?m\b\.?)?"
    rf"[  ]*(?:\((?P<zone>[^()]{{1,60}})\)|(?P<short>(?:UTC|GMT)[+-][0-9]{{1,2}}(?::[0-9]{{2}})?"
    rf"|(?:{'|'.join(_OFFSETS)})\b))?",
    re.IGNORECASE,
)


OURS: Final = "ours"
"""This machine's zone, whatever it is at that moment."""

Zone: TypeAlias = tzinfo | Literal["ours"] | None
"""The zone of a machine; None if unknown."""


def reset_time(text: str, now: float, local: Zone = OURS) -> Reset | None:
    """Return when a limit ends according to a program's text; None if the text does not say, or is impossible.

    Args:
        text: What the program printed, or an error's message. The last time in it counts.
        now: When the text was printed, in seconds since the epoch.
        local: The zone of the program's machine, which applies to times without a zone. None: it is unknown, and
            such times are ignored.

    Returns:
        Possible moments: the first is at most a quarter of an hour ago, none is more than 40 days ahead.

    """
    if not math.isfinite(now) or not 0 <= now <= _LAST_EPOCH - FURTHEST:
        return None
    shown = re.sub(r"\s+", " ", text[-_TEXT:])
    for find in _WAYS:
        found = [reset for reset in find(shown, now, local) if _can_be(reset, now)]
        if found:
            return found[-1]
    return None


def _can_be(reset: Reset, now: float) -> bool:
    earliest = now - PAST if reset.by_clock else now
    return bool(reset.moments) and earliest <= reset.moments[0] and reset.moments[-1] <= now + FURTHEST


def _epochs(text: str, _now: float, _local: Zone) -> Iterator[Reset]:
    for found in _EPOCH.finditer(text):
        count = int(found[1])
        yield Reset((count / 1000 if count > _MILLISECONDS else float(count),))


def _dates(text: str, _now: float, local: Zone) -> Iterator[Reset]:
    for found in _ISO.finditer(text):
        zone = (found[4] or "").replace("UTC", "+00:00").replace("Z", "+00:00")
        with suppress(ValueError, OverflowError, OSError):
            moment = datetime.fromisoformat(f"{found[1]}T{found[2]}{zone}")
            within = 0.0 if found[3] else _UNITS["m"]
            yield Reset(
                (moment.timestamp(),) if moment.tzinfo else _shown(moment.date(), moment.time(), local),
                within,
            )


def _spans(text: str, now: float, _local: Zone) -> Iterator[Reset]:
    for found in _SPAN.finditer(text):
        if found["soon"]:
            yield Reset((now,), _UNITS["m"], by_clock=False)
            continue
        parts = [(float(count), _UNITS[_unit(unit)]) for count, unit in _PART.findall(found[1])]
        span, least = sum(count * unit for count, unit in parts), min(unit for _, unit in parts)
        if span:
            yield Reset((now + span,), least if least > _EXACT else 0.0, by_clock=False)
    for found in _HEADER.finditer(text):
        yield Reset((now + float(found[1]),), by_clock=False)


def _clocks(text: str, now: float, local: Zone) -> Iterator[Reset]:
    for found in _CLOCK.finditer(text):
        with suppress(KeyError, ValueError, OverflowError, OSError):
            yield from _next_shown(found, now, local)


_WAYS: Final[tuple[Callable[[str, float, Zone], Iterator[Reset]], ...]] = (
    _epochs,
    _dates,
    _spans,
    _clocks,
)


def _unit(word: str) -> str:
    word = word.lower()
    return "ms" if word.startswith(("ms", "milli")) else word[0]


def _next_shown(found: re.Match[str], now: float, local: Zone) -> Iterator[Reset]:
    """Yield the moments at which a clock on the wall shows the time in a match. Raises what `_zone` does.

    For a time of day without a date these are the last one, if recent, and the next one; the caller, who knows what
    was shown before, decides which one is meant.
    """
    if not found["half"] and not found["minute"]:
        return
    text = found["hour"] + ":" + (found["minute"] or "00") + (found["half"] or "").replace(".", "")
    clock = datetime.strptime(text, "%I:%M%p" if found["half"] else "%H:%M").time()  # noqa: DTZ007 (its zone follows)
    clock = clock.replace(second=int(found["second"] or 0))
    zone = _zone(found["zone"] or found["short"] or "") or local
    today = datetime.fromtimestamp(now, _tzinfo(zone)).date()
    moments: list[float] = []
    for days in range(-1, int(FURTHEST / DAY) + 1):
        day = today + timedelta(days=days)
        if _is_meant(found, day, ahead=days):
            moments += [at for at in _shown(day, clock, zone) if at >= now - PAST]
        if moments and moments[-1] >= now:
            break
    if moments:
        yield Reset(tuple(moments), 0.0 if found["second"] else _UNITS["m"])


def _shown(day: date, clock: time, zone: Zone) -> tuple[float, ...]:
    """Return when a clock shows a time on a day: twice in a repeated hour; an hour later in a skipped one."""
    if zone is None:
        return ()
    moments = (datetime.combine(day, clock.replace(fold=fold), _tzinfo(zone)) for fold in (0, 1))
    first, again = (each.timestamp() for each in moments)
    return (first, again) if first < again else (first,)


def _tzinfo(zone: Zone) -> tzinfo | None:
    return None if isinstance(zone, str) else zone


def _is_meant(found: re.Match[str], day: date, *, ahead: int) -> bool:
    """Return whether a day, `ahead` days from today, fits the text."""
    return (
        (found["tomorrow"] is None or ahead == 1)
        and (found["weekday"] is None or _DAYS[day.weekday()] == found["weekday"].lower())
        and (found["month"] is None or _MONTHS[day.month - 1] == found["month"].lower())
        and (found["day"] is None or day.day == int(found["day"]))
        and (found["year"] is None or day.year == int(found["year"]))
    )


def _zone(name: str) -> tzinfo | None:
    """Return the zone with a name, None for an empty name. Raises KeyError, ValueError, OSError, OverflowError."""
    if not name:
        return None
    if (hours := _OFFSETS.get(name.upper())) is not None:
        return timezone(timedelta(hours=hours)) if hours else UTC
    if offset := _OFFSET.fullmatch(name):
        ahead = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(ahead if offset[1] == "+" else -ahead)
    return ZoneInfo(name)
