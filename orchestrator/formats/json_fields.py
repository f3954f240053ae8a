"""Fields of a JSON object that came from outside: of the kind that is wanted, or empty."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_HALF: Final = re.compile("[\ud800-\udfff]")


def text_of(told: Mapping[str, Any], *keys: str) -> str:
    """Return a text, down a path of keys; empty where there is none. Halves of characters are replaced."""
    found: Any = told
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return _HALF.sub("\ufffd", found) if isinstance(found, str) else ""


def number_of(told: Mapping[str, Any], *keys: str) -> float | None:
    """Return a number, down a path of keys; None where there is none."""
    found: Any = told
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def listed(told: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list; empty where there is none."""
    found = told.get(key)
    return found if isinstance(found, list) else []
