"""The values of files like `.env`, masked wherever they stand in a text: unlike `redact`, by what they are.

A value of fewer than 8 characters, or of digits, or a plain word like `development`, would mask innocent text. It is
taken for a secret only if its name says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from orchestrator.formats.redact import MASK

SHORTEST: Final = 8
SHORTEST_NAMED: Final = 4
"""Characters of the shortest value that is masked; and of the shortest whose name says that it is a secret."""

VALUES: Final = 500
"""How many values are masked at most."""

_PAIR: Final = re.compile(
    r"\s*(?:export\s+)?[\"']?([A-Za-z_][\w.-]{0,100})[\"']?\s*[=:]\s*(.{1,4096}?)\s*,?\s*"
)
_NAMED: Final = re.compile(r"pass|secret|token|key|credential|auth|private|dsn|salt", re.IGNORECASE)
_TELLING: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])|.*[^A-Za-z0-9_./-]")
"""What a plain word, a number and a path do not look like."""


def values_in(data: bytes) -> frozenset[str]:
    """Return the values in the lines `NAME=value` and `name: value` of a file that could be secrets."""
    found = set[str]()
    for line in data.decode(errors="replace").splitlines():
        pair = _PAIR.fullmatch(line[:5000])
        if pair is None or len(found) >= VALUES:
            continue
        value = pair[2]
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        if len(value) >= SHORTEST_NAMED and (
            _NAMED.search(pair[1]) or (len(value) >= SHORTEST and _TELLING.match(value))
        ):
            found.add(value)
    return frozenset(found)


def without_values(text: str, values: Collection[str]) -> str:
    """Return a text with each of the values masked, the longest first."""
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, MASK)
    return text
