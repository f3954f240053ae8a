"""Amounts as people write them: `1.2M`, `$3.40`, `2 h 10 min`. Imports nothing, for commands that must start fast."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Sequence

_MINUTE, _HOUR = 60, 3600
_DAY = 86_400
_CENT = 0.01
_HUNDREDTH = 0.0001
"""Of a dollar; smaller amounts do not matter."""
_SIZES = (("M", 1_000_000), ("k", 1000))
_TENTHS = 9.95
"""Up to here one decimal is useful."""


def on_word_said(attested: int, criteria: int) -> str:
    """Return how many success criteria nothing shows to be met but what their judge wrote; empty if there is none."""
    if not attested:
        return ""
    rest = "rests on its" if attested == 1 else "rest on their"
    return f"{attested} of {criteria} success criteria {rest} judge's word alone"


def tokens_said(count: float) -> str:
    """Return a number of tokens in two or three digits."""
    for unit, size in _SIZES:
        if count >= 0.9995 * size:
            there = count / size
            return (f"{there:.1f}" if there < _TENTHS else f"{there:.0f}").removesuffix(".0") + unit
    return f"{count:.0f}"


def size_said(size: float) -> str:
    """Return a number of bytes with its unit."""
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000:  # noqa: PLR2004 (the step of the units)
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"  # noqa: PLR2004
        size /= 1000
    return f"{size:.1f} TB"


def money_said(dollars: float) -> str:
    """Return an amount of US dollars: whole ones without cents, less than a cent with four decimals."""
    return f"${dollars:.4f}" if 0 < dollars < _CENT else f"${dollars:.2f}".removesuffix(".00")


def cost_said(cost: float | None, estimate: float | None) -> str:
    """Return US dollars: what programs reported plus what was estimated; with `~` if any of it was estimated."""
    whole = (cost or 0.0) + (estimate or 0.0)
    return f"~{money_said(whole)}" if abs(estimate or 0.0) >= _HUNDREDTH else money_said(whole)


UNCOUNTED = "more was used than is counted, as transcripts on boxes are too large to be copied"


def prices_said(day: str, now: float, unpriced: Sequence[str] = ()) -> str:
    """Return the day (YYYY-MM-DD) and the age of an estimate's prices, and which models have none."""
    known = f"by prices of {day}, {_days_old(day, now)}" if day else ""
    unknown = f"no price is known of {', '.join(unpriced)}" if unpriced else ""
    return "; ".join(filter(None, (known, unknown)))


def _days_old(day: str, now: float) -> str:
    from orchestrator.formats.timestamps import parted

    at = parted(f"{day}T00:00:00Z ")[0]
    days = max(int((now - (at or now)) // _DAY), 0)
    return "1 day old" if days == 1 else f"{days} days old"


def span_said(seconds: float) -> str:
    """Return a span of time in hours and minutes; in seconds if it is less than a minute."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    hours, rest = divmod(seconds, _HOUR)
    minutes = f"{rest // _MINUTE:.0f} min"
    return f"{hours:.0f} h {minutes}" if hours else minutes
