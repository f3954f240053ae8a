"""Rules on what is said of the service: limits and their ends, overloads, logins; and of agents that hang on it."""

from __future__ import annotations

import re
import time
from calendar import timegm
from collections.abc import Iterator
from typing import Final

from tests.nights.judging.rules import LAG, Checking, Ruled, by_source, clock, documents
from tests.nights.looking import NOTIFICATION, PROGRESS, QUESTIONS, STATUS
from tests.nights.night import BESIDES
from tests.nights.observation import Observation, Outcome, Shown, Window

KNOWN: Final = 600.0
"""Seconds of the night within which a hung stream must be known."""
MINUTE: Final = 60.0
ROUNDED: Final = 5.0

_AHEAD: Final = re.compile(
    r"\b(?:goes on|go on|going on|until|again|asks? again|asked again|tried again|parked until)\b"
    r"(?: at| on|,? not before)? (?:about )?"
    r"(?P<date>\d{4}-\d\d-\d\d |[A-Z][a-z]{2,8} \d{1,2},? (?:at )?|tomorrow(?: at)? )?"
    r"(?P<clock>\d{1,2}:\d\d(?::\d\d)?)(?![ \xa0\u202f]?(?i:[ap]\.?m))"
)
_LIMITED: Final = re.compile(r"\blimited\b|\busage limit\b|\bhit your\b", re.IGNORECASE)
_SAYS: Final = {
    "limit": re.compile(r"\blimited\b(?! to)|\bhit your .{0,20}limit\b"),
    "overload": re.compile(r"\boverloaded\b"),
    "login": re.compile(r"\bnot logged in\b|\bhas no credit\b"),
}
_SOURCES: Final = (STATUS, PROGRESS, NOTIFICATION, QUESTIONS)


def limit_ends(seen: Observation) -> Ruled:
    """A time at which a limited agent goes on is the service's: not before, at most two minutes after, dated."""
    checking = Checking("limit-ends")
    for shown, line in _lines(seen):
        if not _LIMITED.search(line):
            continue
        for found in _AHEAD.finditer(line):
            checking.check(shown, line, _wrong_time(seen, shown, found))
    return checking.ruled


def _wrong_time(seen: Observation, shown: Shown, found: re.Match[str]) -> str | None:
    windows = [each for each in _windows(seen, shown, "limit") if each.since <= shown.at + LAG]
    if not windows:
        return "the service has limited nobody so far"
    window = windows[-1]
    said, dated = _moment(found, shown.at), found["date"]
    shown_to = ROUNDED if found["clock"].count(":") == 2 else MINUTE
    away = time.gmtime(window.until)[:3] != time.gmtime(shown.at)[:3]
    if away and not dated and window.until > shown.at:
        return f"the service's limit ends on another day, at {time.strftime('%d %b %H:%M', time.gmtime(window.until))}"
    if shown.source != NOTIFICATION and shown.at > said + shown_to + LAG and not _living(seen, shown):
        return "that time is past, and nobody has gone on"
    if window.told and said + shown_to + LAG < min(window.told, window.until):
        return f"the service's limit was told to end at {clock(window.told)}"
    if said > window.until + BESIDES / seen.factor + ROUNDED and window.told:
        return f"the service's limit ends at {clock(window.until)}"
    return None


def _living(seen: Observation, shown: Shown) -> bool:
    runs = {order.run for order in seen.orders if order.task == shown.task}
    return any(life.run in runs and life.begun - LAG < shown.at < life.last + LAG for life in seen.lives)


def _moment(found: re.Match[str], at: float) -> float:
    """Return the moment that a shown clock means: the next one, or, just past, the one before."""
    hours, minutes, *rest = (int(part) for part in found["clock"].split(":"))
    midnight = timegm((*time.gmtime(at)[:3], 0, 0, 0))
    said = midnight + hours * 3600 + minutes * 60 + (rest[0] if rest else 0)
    if found["date"]:
        day = re.search(r"(\d{4})-(\d\d)-(\d\d)", found["date"])
        if day:
            return timegm((int(day[1]), int(day[2]), int(day[3]), hours, minutes, 0))
        return at + 86400.0
    return said + 86400.0 if said < at - 43200.0 else said


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
    for shown, told in documents(seen):
        for agent in told.get("agents", ()):
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
