"""Reads fields of untrusted JSON objects: a value of the wanted type, or empty."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_HALF: Final = re.compile("[\ud800-\udfff]")


def text_of(record: Mapping[str, Any], *keys: str) -> str:
    """Return a text at a path of keys; empty if there is none. Lone surrogates are replaced."""
    found: Any = record
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return _HALF.sub("\ufffd", found) if isinstance(found, str) else ""


def number_of(record: Mapping[str, Any], *keys: str) -> float | None:
    """Return a number at a path of keys; None if there is none."""
    found: Any = record
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def listed(record: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list; empty if there is none."""
    found = record.get(key)
    return found if isinstance(found, list) else []
