"""The most that a task may use, as people write it: `2M tokens; $20; 8 h`, or `none` (U6)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from orchestrator.formats.durations import read_duration
from orchestrator.model.budget import Budget, Measure
from orchestrator.model.errors import Refused

ALLOWED: Final = "`2M tokens`, `$20`, `8 h`, `none`"
NONE: Final = "none"
MOST_TOKENS: Final = 10**12
MOST_DOLLARS: Final = 1_000_000.0

_TOKENS: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([kKmM]?)\s*(tokens?)?", re.ASCII)
_DOLLARS: Final = re.compile(r"\$?\s*([0-9]{1,7}(?:\.[0-9]{1,4})?)", re.ASCII)
_SIZES: Final[Mapping[str, int]] = MappingProxyType({"": 1, "k": 1000, "m": 1_000_000})


def read_budget(text: str) -> Budget:
    """Return the limits in a text, each at most once, separated by `;`. `none` turns off the defaults.

    Raises:
        Refused: a part is not a limit, occurs twice, or is not above 0.

    """
    given: dict[str, Any] = {}
    for part in (each.strip() for each in text.split(";")):
        if part == NONE:
            given["alone"] = True
            continue
        measure = _measure(part)
        if measure.value in given:
            raise Refused(f"gives {measure.value} twice: keep one of them")
        given[measure.value] = read_amount(measure, part)
    return Budget(**given)


def read_amount(measure: Measure, found: object) -> float:
    """Return the amount in a number or a text: tokens (whole), US dollars, or seconds.

    Raises:
        Refused: it is not an amount of that kind, or out of range.

    """
    match measure:
        case Measure.TOKENS:
            return _tokens(found)
        case Measure.COST:
            return _dollars(found)
        case Measure.TIME:
            try:
                return read_duration(found)
            except ValueError as problem:
                raise Refused(str(problem)) from None


def _measure(part: str) -> Measure:
    if part.startswith("$"):
        return Measure.COST
    if part.endswith(("token", "tokens")):
        return Measure.TOKENS
    if part[-1:].isalpha() and not part.endswith(("k", "K", "M")):
        return Measure.TIME
    raise Refused(f"holds {part[:40]!a}: write one or more of {ALLOWED}, separated by `;`")


def _tokens(found: object) -> int:
    match = _TOKENS.fullmatch(_text(found))
    count = round(float(match[1]) * _SIZES[match[2].lower()]) if match else 0
    if not 0 < count <= MOST_TOKENS:
        raise Refused(f"is {ascii(found)[:40]}: give a number of tokens above 0, like 500k or 2M")
    return count


def _dollars(found: object) -> float:
    match = _DOLLARS.fullmatch(_text(found))
    dollars = float(match[1]) if match else 0.0
    if not 0 < dollars <= MOST_DOLLARS:
        raise Refused(f"is {ascii(found)[:40]}: give US dollars above 0, like $20 or $0.50")
    return dollars


def _text(found: object) -> str:
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return ""
    return str(found).strip()
