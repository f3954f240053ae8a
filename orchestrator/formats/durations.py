"""Spans of time as people write them: `600`, `"10 m"`, `"1.5 h"`."""

from __future__ import annotations

import math
import re
from typing import Final

UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SHORTEST: Final = 0.01
LONGEST: Final = 366 * 86400.0
ALLOWED: Final = 'a time above 0 in seconds, or as text like "90 s", "10 m", "4 h" (units: ms, s, m, h, d)'

_SPAN: Final = re.compile(r"\s*([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*([a-z]*)\s*", re.ASCII)


def read_duration(value: object) -> float:
    """Return the seconds that a number, or a text with a unit, means.

    Raises:
        ValueError: it is neither, or outside 10 ms to 366 days; the message says what is allowed.

    """
    match value:
        case bool():
            seconds = math.nan
        case int() | float():
            seconds = float(value) if value <= LONGEST else math.nan  # an int may be too large for a float
        case str():
            seconds = _from_text(value)
        case _:
            seconds = math.nan
    if not SHORTEST <= seconds <= LONGEST:
        raise ValueError(f"is {_shown(value)}: give {ALLOWED}, at most 366 days")
    return seconds


def render_duration(seconds: float) -> str:
    """Return seconds as text that `read_duration` reads back, in the largest unit that keeps it whole."""
    for unit in ("d", "h", "m", "s", "ms"):
        count = seconds / UNITS[unit]
        if count >= 1 and count == int(count):
            return f"{int(count)} {unit}"
    return f"{seconds!r} s"


def _from_text(text: str) -> float:
    found = _SPAN.fullmatch(text)
    unit = UNITS.get(found[2] or "s") if found else None
    return float(found[1]) * unit if found and unit else math.nan


def _shown(value: object) -> str:
    return ascii(value)[:40]
