"""Text for manual pages: the few macros of man(7) that they are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_SPANS: Final = re.compile(r"(`[^`]+`)")
_WRITTEN: Final = {"\\": "\\e", "…": "...", "-": "\\-", "'": "\\(aq", "~": "\\(ti"}
"""How signs are written that troff would take for others; the sign of escapes comes first."""


def heading(name: str, date: str, version: str, manual: str) -> str:
    """Return the first line of a page of section 1."""
    return f".TH {quoted(name.upper())} 1 {quoted(date)} {quoted(version)} {quoted(manual)}"


def section(title: str, *parts: str) -> str:
    """Return a section of parts, a paragraph each."""
    return "\n".join([f".SH {quoted(title.upper())}", "\n.PP\n".join(parts)])


def subsection(title: str, *parts: str) -> str:
    """Return a part of a section."""
    return "\n".join([f".SS {quoted(title)}", "\n.PP\n".join(parts)])


def tagged(rows: Iterable[tuple[str, str]]) -> str:
    """Return a list of words in bold, each with its meaning indented below it."""
    return "\n".join(f".TP\n\\fB{escaped(tag)}\\fR\n{prose(text)}" for tag, text in rows)


def literal(text: str) -> str:
    """Return text whose lines stay as they are."""
    lines = [_guarded(escaped(line)) for line in text.split("\n")]
    return "\n".join([".nf", ".RS 4", *lines, ".RE", ".fi"])


def bold(text: str) -> str:
    """Return words in bold."""
    return f"\\fB{escaped(text)}\\fR"


def prose(text: str) -> str:
    """Return running text, what stands between backticks in bold."""
    parts = [
        bold(part[1:-1]) if part.startswith("`") else escaped(part) for part in _SPANS.split(text) if part
    ]
    return _guarded(" ".join("".join(parts).split()))


def escaped(text: str) -> str:
    """Return text that means itself: neither an escape, nor a hyphen where a minus is to be typed."""
    for sign, written in _WRITTEN.items():
        text = text.replace(sign, written)
    return "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in text)


def quoted(text: str) -> str:
    """Return an argument of a macro."""
    return '"' + escaped(text).replace('"', "\\(dq") + '"'


def _guarded(line: str) -> str:
    """Return a line that is no macro, whatever its first sign."""
    return f"\\&{line}" if line.startswith(".") else line
