"""Prices of models: `[prices.NAME]` of the settings file, and the shipped ones. Each has the day it is from."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from orchestrator.formats.suggestions import nearest
from orchestrator.model.errors import BadFile, Fault
from orchestrator.model.prices import Price

KEYS: Final = tuple(field.name for field in fields(Price) if field.name != "name")

_SHIPPED: Final = Path(__file__).with_name("prices.toml")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DATE: Final = re.compile(r"20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])")
_DEAREST: Final = 1_000_000.0
_MOST: Final = 50
_NEEDED: Final = ("input", "output", "date")
_PER_MILLION: Final = "give US dollars for a million tokens, like 2.5"


def read_price(name: str, table: Mapping[str, object]) -> tuple[Price | None, list[tuple[str, str]]]:
    """Return the price that a table defines, and its faults: the key (empty: the table) and what is wrong.

    Tokens read from or written to a cache cost as much as other input unless the table says otherwise.
    """
    faults: list[tuple[str, str]] = []
    if not _NAME.fullmatch(name):
        faults.append(
            ("", f"the name of a price is {ascii(name)[:60]}: use letters, digits, '.', '_' and '-'")
        )
    made: dict[str, Any] = {"models": (name.lower(),)}
    for key, value in table.items():
        try:
            made[key] = _READERS[key](value) if key in _READERS else _no_such(key)
        except ValueError as problem:
            faults.append((key, f"{key} {problem}" if key in _READERS else str(problem)))
    faults += [("", f"has no {key}: {_LIKE[key]}") for key in _NEEDED if key not in table]
    if faults:
        return None, faults
    made.setdefault("cache_read", made["input"])
    made.setdefault("cache_write", made["input"])
    made.setdefault("cache_write_hour", made["cache_write"])
    return Price(name, **made), []


@cache
def shipped_prices() -> tuple[Price, ...]:
    """Return the shipped prices. Raises BadFile: a faulty file must not ship."""
    tables = tomllib.loads(_SHIPPED.read_text("utf-8"))
    date = tables.pop("date", "")
    prices, faults = [], []
    for name, table in tables.items():
        price, wrong = read_price(name, {"date": date, **table})
        prices += [price] if price else []
        faults += [Fault(0, f"[{name}] {reason}") for _, reason in wrong]
    if faults:
        raise BadFile(str(_SHIPPED), faults)
    return tuple(prices)


def prices_in_force(own: tuple[Price, ...]) -> tuple[Price, ...]:
    """Return a user's own prices, followed by the shipped ones whose name the user has not used."""
    named = {price.name for price in own}
    return (*own, *(price for price in shipped_prices() if price.name not in named))


def price_said(price: Price) -> str:
    """Return a price on one line, as `task config` shows it."""
    cached = f"cached ${price.cache_read:g}, written ${price.cache_write:g} or ${price.cache_write_hour:g} for an hour"
    return f"${price.input:g} in, ${price.output:g} out, {cached}; {', '.join(price.models)}; of {price.date}"


def _no_such(key: str) -> object:
    raise ValueError(f"there is no key {key!a}{nearest(key, KEYS)}")


def _dollars(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _DEAREST:
        raise ValueError(f"is {ascii(value)[:60]}: {_PER_MILLION}")
    return float(value)


def _models(value: object) -> tuple[str, ...]:
    if (
        not isinstance(value, list)
        or not 1 <= len(value) <= _MOST
        or not all(isinstance(each, str) for each in value)
    ):
        raise ValueError(f"is {ascii(value)[:60]}: {_LIKE['models']}")
    if "" in value or any(len(each) > 200 for each in value):  # noqa: PLR2004 (longer than any name)
        raise ValueError(f"holds something that is not a model's name: {_LIKE['models']}")
    return tuple(each.lower() for each in value)


def _day(value: object) -> str:
    day = str(value)  # TOML has dates of its own
    if not _DATE.fullmatch(day):
        raise ValueError(f"is {ascii(value)[:60]}: {_LIKE['date']}")
    return day


_LIKE: Final = {
    "input": _PER_MILLION,
    "output": _PER_MILLION,
    "models": 'give a list of names like ["my-model", "my-model-*"]',
    "date": 'give the day that the price is from, like "2026-10-27"',
}
_READERS: Final[dict[str, Callable[[object], object]]] = {
    "models": _models,
    "input": _dollars,
    "output": _dollars,
    "cache_read": _dollars,
    "cache_write": _dollars,
    "cache_write_hour": _dollars,
    "date": _day,
}
