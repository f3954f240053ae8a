"""Rules on what is said of the service: limits and their ends, overloads, logins; and of agents that hang on it."""

from __future__ import annotations

import re
import time
from calendar import timegm
from collections.abc import Callable, Iterator
from typing import Final

from tests.nights.judging.rules import LAG, Checking, Ruled, by_source, clock, documents
from tests.nights.looking import NOTIFICATION, PROGRESS, QUESTIONS, STATUS
from tests.nights.observation import Observation, Outcome, Shown, Window

KNOWN: Final = 600.0
"""Seconds of the night within which a hung stream must be known."""
MINUTE: Final = 60.0
ROUNDED: Final = 5.0

_MOMENT: Final = (
    r"(?: at| on|,? not before)? (?:about )?"
    r"(?P<date>\d{4}-\d\d-\d\d |[A-Z][a-z]{2,8} \d{1,2},? (?:at )?|\d{1,2} [A-Z][a-z]{2,8},? |tomorrow(?: at)? )?"
    r"(?P<clock>\d{1,2}:\d\d(?::\d\d)?)(?![ \xa0\u202f]?(?i:[ap]\.?m))"
)
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_UNTIL: Final = re.compile(rf"\buntil{_MOMENT}")
_AGAIN: Final = re.compile(
    rf"\b(?:goes on|go on|going on|asks? again|asked again|tried again|tries again){_MOMENT}"
)
_LIMITED: Final = re.compile(r"\blimited\b|\busage limit\b|\bhit your\b", re.IGNORECASE)
_SAYS: Final = {
    "limit": re.compile(r"\blimited\b(?! to)|\bhit your .{0,20}limit\b"),
    "overload": re.compile(r"\boverloaded\b"),
    "login": re.compile(r"\bnot logged in\b|\bhas no credit\b"),
}
_SOURCES: Final = (STATUS, PROGRESS, NOTIFICATION, QUESTIONS)


def limit_ends(seen: Observation) -> Ruled:
    """A limit lasts until its service says, a limited agent goes on when it is said, and another day has its date."""
    checking = Checking("limit-ends")
    for shown, line in _lines(seen):
        if not _LIMITED.search(line):
            continue
        for says, wrong in ((_UNTIL, _wrong_end), (_AGAIN, _wrong_try)):
            for found in says.finditer(line):
                checking.check(shown, line, _wrong_time(seen, shown, found, wrong))
    return checking.ruled


_Wrong = Callable[[Observation, Shown, Window, float, float], str | None]


def _wrong_time(seen: Observation, shown: Shown, found: re.Match[str], wrong: _Wrong) -> str | None:
    """Return what is so where a shown time is not: it means the whole minute, or the second, that it shows."""
    windows = [each for each in _windows(seen, shown, "limit") if each.since <= shown.at + LAG]
    if not windows:
        return "the service has limited nobody so far"
    window, said = windows[-1], _moment(found, shown.at)
    upto = said + (ROUNDED if found["clock"].count(":") == 2 else MINUTE)
    is_away = time.gmtime(window.until)[:3] != time.gmtime(shown.at)[:3] and window.until > shown.at
    if is_away and not found["date"] and said % 86400 <= window.until % 86400 < upto % 86400:
        return f"the service's limit ends on another day: {time.strftime('%d %b %H:%M', time.gmtime(window.until))}"
    return wrong(seen, shown, window, said, upto)


def _wrong_end(_seen: Observation, shown: Shown, window: Window, said: float, upto: float) -> str | None:
    if shown.source != NOTIFICATION and shown.at > upto + LAG and window.until > shown.at:
        return "that time is past, and the service refuses still"
    if window.stated_end and not said - LAG <= window.stated_end <= upto + LAG:
        return f"the service's limit was told to end at {clock(window.stated_end)}"
    return None


def _wrong_try(seen: Observation, shown: Shown, _window: Window, _said: float, upto: float) -> str | None:
    if shown.source != NOTIFICATION and shown.at > upto + LAG and not _living(seen, shown):
        return "that time is past, and nobody has gone on"
    return None


def _living(seen: Observation, shown: Shown) -> bool:
    runs = {order.run for order in seen.orders if order.task == shown.task}
    return any(life.run in runs and life.begun - LAG < shown.at < life.last + LAG for life in seen.lives)


def _moment(found: re.Match[str], at: float) -> float:
    """Return the moment that a shown time means: on its date, else the nearest at which a clock shows it."""
    hours, minutes, *rest = (int(part) for part in found["clock"].split(":"))
    of_day = hours * 3600 + minutes * 60 + (rest[0] if rest else 0)
    if found["date"]:
        return _midnight(found["date"], at) + of_day
    said = at - at % 86400 + of_day
    return said + 86400.0 if said < at - 43200.0 else said


def _midnight(date: str, at: float) -> float:
    """Return when a day begins that is named so."""
    words = re.findall(r"\d+|[A-Za-z]+", date)
    if words[0] == "tomorrow":
        return at - at % 86400 + 86400
    numbers = [int(word) for word in words if word.isdigit()]
    if len(numbers) == 3:
        return timegm((*numbers, 0, 0, 0))
    name = next(word for word in words if word[:3].title() in _MONTHS)
    return timegm((time.gmtime(at)[0], _MONTHS.index(name[:3].title()) + 1, numbers[0], 0, 0, 0))


def service_troubles(seen: Observation) -> Ruled:
    """Nobody is called limited, overloaded or logged out whom the service has not refused so."""
    checking = Checking("service-troubles")
    for shown, line in _lines(seen):
        for kind, says in _SAYS.items():
            if says.search(line):
                refused = [each for each in _windows(seen, shown, kind) if each.since <= shown.at + LAG]
                checking.check(
                    shown, line, None if refused else f"the service has refused nobody so ({kind})"
                )
    return checking.ruled


def busy(seen: Observation) -> Ruled:
    """Nobody is called busy whose stream has hung for longer than ten minutes of the night."""
    checking = Checking("busy")
    for shown, notified in documents(seen):
        for agent in notified.get("agents", ()):
            if agent.get("turn") != "busy" or agent.get("state") != "alive":
                continue
            asked = [each for each in seen.requests if each.run == agent.get("run") and each.at <= shown.at]
            last = max(asked, key=lambda each: each.at, default=None)
            hung = 0.0 if last is None or last.outcome is not Outcome.HUNG else shown.at - last.at
            since = clock(last.at) if last else ""
            truth = f"its stream hangs since {since}" if hung > KNOWN / seen.factor + LAG else None
            checking.check(shown, f"{agent.get('name')} alive, busy", truth)
    return checking.ruled


def _lines(seen: Observation) -> Iterator[tuple[Shown, str]]:
    """Yield the lines that the product says in its own name: what begins with a handoff's name is its agent's."""
    for shown in by_source(seen, *_SOURCES):
        for line in shown.text.splitlines():
            if not re.match(r"- [\w.-]+-\d{8}-\d{6}\.md", line):
                yield shown, line


def _windows(seen: Observation, shown: Shown, kind: str) -> list[Window]:
    runs = {order.run for order in seen.orders if shown.task in {"", order.task}}
    vendors = {each.vendor for each in seen.requests if each.run in runs}
    return sorted(
        (each for each in seen.windows if each.kind == kind and each.vendor in vendors),
        key=lambda each: each.since,
    )
