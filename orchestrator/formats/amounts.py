"""How much, as people say it: `1.2M`, `$3.40`, `2 h 10 min`. Imports nothing, for whoever must answer at once."""

from __future__ import annotations

_MINUTE, _HOUR = 60, 3600
_CENT = 0.01
_SIZES = (("M", 1_000_000), ("k", 1000))
_TENTHS = 9.95
"""Up to here one decimal tells something."""


def tokens_said(count: float) -> str:
    """Return a number of tokens in two or three digits."""
    for unit, size in _SIZES:
        if count >= 0.9995 * size:
            there = count / size
            return (f"{there:.1f}" if there < _TENTHS else f"{there:.0f}").removesuffix(".0") + unit
    return f"{count:.0f}"


def money_said(dollars: float) -> str:
    """Return an amount of US dollars: whole ones without cents, less than a cent in hundredths of one."""
    return f"${dollars:.4f}" if 0 < dollars < _CENT else f"${dollars:.2f}".removesuffix(".00")


def span_said(seconds: float) -> str:
    """Return a span of time in hours and minutes; in seconds, if it is less than one minute."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    hours, rest = divmod(seconds, _HOUR)
    minutes = f"{rest // _MINUTE:.0f} min"
    return f"{hours:.0f} h {minutes}" if hours else minutes
