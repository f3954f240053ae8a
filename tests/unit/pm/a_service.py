"""A model's service with a usage limit, and the agent programs that tell of it in their own words.

Real time is the service's. The program and the PM read a clock of their own, which may be off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from orchestrator.formats.reset_time import reset_time
from orchestrator.model.limits import Limits
from orchestrator.model.usage_limit import UsageLimit
from orchestrator.pm.state.usage_limits import moved_by_clock, next_try, refused, try_after_move

Words = Callable[[float, float, ZoneInfo], str]
"""What a program says of a reset, by its own clock, on a machine in a zone."""

DAY = 86400.0
ANSWER = 1.0
"""Seconds from a request to the word that it was refused."""


def claude(reset: float, now: float, zone: ZoneInfo) -> str:
    """Without the seconds, without minutes that are none, and without a date where it is less than a day off."""
    at = datetime.fromtimestamp(reset, zone)
    clock = f"{at:%I}".lstrip("0") + (f":{at:%M}" if at.minute else "") + f"{at:%p}".lower()
    date = f"{at:%b} {at.day}, " if reset - now > DAY else ""
    return f"You've hit your 5-hour limit · resets {date}{clock} ({zone.key})"


def codex(reset: float, now: float, zone: ZoneInfo) -> str:
    """In the machine's own zone, which it does not name, with a date on another day."""
    at, today = datetime.fromtimestamp(reset, zone), datetime.fromtimestamp(now, zone)
    clock = f"{at:%I}".lstrip("0") + f"{at:%M %p}".replace(at.strftime("%M"), f":{at:%M}", 1)
    date = "" if at.date() == today.date() else f"{at:%b} {at.day}th, {at.year} "
    return f"You’ve hit your usage limit. Upgrade to Pro, or try again at {date}{clock}."


def gemini(reset: float, _: float, zone: ZoneInfo) -> str:
    """With what JavaScript calls its zone."""
    at = datetime.fromtimestamp(reset, zone)
    named = at.tzname()
    if zone.key not in {"UTC", "America/New_York"}:
        offset = f"{at:%z}"
        minutes = f":{offset[3:]}" if offset[3:] != "00" else ""
        named = f"GMT{offset[0]}{offset[1:3].lstrip('0')}{minutes}"
    return f"Usage limit reached for all Pro models.\nAccess resets at {at:%I:%M %p} {named}."


def older_claude(reset: float, _: float, __: ZoneInfo) -> str:
    return f"Claude AI usage limit reached|{reset:.0f}"


def openai(reset: float, now: float, _: ZoneInfo) -> str:
    """A span, which the service itself has measured; `now` is its own time here."""
    return f"Rate limit reached. Please try again in {max(reset - now, 0.001):.3f}s."


def in_minutes(reset: float, now: float, _: ZoneInfo) -> str:
    left = max(int((reset - now) // 60), 0)
    return f"try again in {left // 60}h {left % 60}m" if left else "try again in less than a minute"


def wordless(_: float, __: float, ___: ZoneInfo) -> str:
    return "This request would exceed your account's rate limit."


SPANS = frozenset({openai, in_minutes})
"""Words that the service makes: they are right whatever the clock of the machine shows."""


@dataclass(frozen=True)
class Waited:
    """Seconds that passed after a limit was lifted, requests that were refused after the first, the longest pause."""

    dead: float
    wasted: int
    longest: float


def wait_for(
    reset: float,
    words: Words,
    *,
    ahead: float = 3600.0,
    late: float = 0.0,
    off: float = 0.0,
    lag: float = 5.0,
    zone: ZoneInfo | None = None,
    limits: Limits | None = None,
    jumps: tuple[tuple[float, float], ...] = (),
) -> Waited:
    """Wait for a limit as the PM does.

    Args:
        reset: the moment that the service tells, in real time.
        words: how the program shows it.
        ahead: how long before that the first request is refused.
        late: how long after that the service lifts the limit.
        off: by how much the machine's clock is fast.
        lag: how long a program takes from its launch to its request.
        zone: of the machine; UTC if none is given.
        limits: the PM's bounds.
        jumps: real moments at which the machine's clock is set, and by how many seconds. The daemon sees that at once.

    """
    limits, zone = limits or Limits(), zone or ZoneInfo("UTC")
    known: UsageLimit | None = None
    asked, wasted, longest = reset - ahead, 0, 0.0
    waiting = list(jumps)
    while asked < reset + late:
        reported = asked + ANSWER
        while waiting and waiting[0][0] <= reported:
            off += waiting[0][1]
            if known is not None:
                known = moved_by_clock(known, waiting[0][1])
            waiting.pop(0)
        said = words(reset, reported if words in SPANS else reported + off, zone)
        known = refused(known, said, reset_time(said, reported + off, zone), reported + off)
        begins = max(next_try(known, limits) - off, reported)
        while waiting and waiting[0][0] < begins:
            moment, put = waiting.pop(0)
            off += put
            known = moved_by_clock(known, put)
            begins = try_after_move(known, put, moment + off, limits) - off
        again = begins + lag
        wasted, longest, asked = wasted + 1, max(longest, again - asked), again
        assert wasted < 5000, "it is asked without end"
    return Waited(asked - reset - late, wasted - 1, longest)
