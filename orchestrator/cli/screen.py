"""What may reach a terminal, and how it looks there: safe text, short times, optional colour."""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import TextIO

NARROW = 80
"""The width if there is no terminal: for pipes, and for documents."""

_LEAST = 40
_DIGITS = 5
"""Digits read of `$COLUMNS`: a line has at most 99,999 columns."""
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0") | frozenset(
    map(chr, range(0xE0100, 0xE01F0))
)
"""Characters that count as printable but show nothing."""
_PILE = 4
"""Most characters per column, on average: text that people write takes fewer, with all its accents."""
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def harmless(value: object) -> str:
    """Return a text as one line without characters that a terminal obeys or that hide other text."""
    text = str(value)
    if text.isprintable() and (text.isascii() or _UNSEEN.isdisjoint(text)):
        return text
    return "".join(map(_seen, text))


def _seen(sign: str) -> str:
    if sign.isprintable() and sign not in _UNSEEN:
        return sign
    return " " if sign.isspace() else "\N{REPLACEMENT CHARACTER}"


def width_of(text: str) -> int:
    """Return how many columns `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def cut(text: str, width: int) -> str:
    """Return `text`, cut to `width` columns with an ellipsis if it is wider, or piles up signs on one column."""
    if len(text) <= _PILE * width and width_of(text) <= width:
        return text
    kept = text[: _PILE * width] if width_of(text[: _PILE * width]) <= width - 1 else text[: width - 1]
    while kept and width_of(kept) > width - 1:
        kept = kept[:-1]
    return f"{kept}…"


def fitted(text: str, width: int) -> str:
    """Return `text` in exactly `width` columns, cut or padded with spaces."""
    if text.isascii() and len(text) <= width:
        return text.ljust(width)
    shown = cut(text, width)
    return shown + " " * (width - width_of(shown))


def wrapped(text: str, width: int, indent: str) -> list[str]:
    """Return the lines of a text of any length, made harmless, each indented and within `width`.

    A path with a hyphen stays whole where it fits, so that the user can copy it.
    """
    from textwrap import wrap

    lines = (harmless(line) for line in text.splitlines())
    room = width - len(indent)
    return [f"{indent}{part}" for line in lines for part in wrap(line, room, break_on_hyphens=False)]


def typed(*words: object) -> str:
    """Return a command as the user would type it: each word quoted for the shell if needed, and harmless."""
    from shlex import quote

    return " ".join(quote(text) if (text := str(word)).isprintable() else _escaped(text) for word in words)


def _escaped(text: str) -> str:
    """Return a word with unprintable characters in the notation of bash, zsh and ksh."""
    signs = (sign if sign.isprintable() and sign not in "'\\" else _octets(sign) for sign in text)
    return f"$'{''.join(signs)}'"


def _octets(sign: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(sign))


def columns() -> int:
    """Return the terminal's width; without a terminal `$COLUMNS`, or else `NARROW`."""
    try:
        width = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        width = 0
    wanted = os.environ.get("COLUMNS", "")
    if not width and wanted.isascii() and wanted.isdigit():
        width = int(wanted[:_DIGITS])
    return max(width, _LEAST) if width else NARROW


def coloured(stream: TextIO) -> bool:
    """Return whether to use colour on `stream` (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def paint(text: str, colour: str) -> str:
    """Return `text` in a colour of `_CODES`."""
    return f"\033[{_CODES[colour]}m{text}\033[0m"


def ago(then: float | None, now: float) -> str:
    """Return how long ago `then` was, in short words; `-` if `then` is None or 0.

    A moment that is still to come was stamped by another clock, or before this one was set back: how long ago it was is
    not known, only how far ahead of the clock it is.
    """
    if not then:
        return "-"
    seconds = now - then
    if seconds <= -_MINUTE:
        return f"{_long(-seconds)} ahead of the clock"
    if seconds < _MINUTE:
        return "now" if seconds < 1 else f"{seconds:.0f} s ago"
    return f"{_long(seconds)} ago"


def _long(seconds: float) -> str:
    """Return a time of a minute or more in its largest unit."""
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min"
    return f"{seconds // _HOUR:.0f} h" if seconds < _DAY else f"{seconds // _DAY:.0f} d"


def clock(then: float | None, now: float) -> str:
    """Return a moment in local time: `02:14` if it was today, else with its day."""
    from orchestrator.formats.timestamps import moment_said

    return moment_said(then, now) if then else "an unknown time"


def stamp(then: float | None) -> str | None:
    """Return a moment as RFC 3339 in UTC, as every JSON document here gives it."""
    return None if then is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(then))
