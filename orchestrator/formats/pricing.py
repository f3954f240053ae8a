"""What tokens cost by a list of prices, for what no program tells the cost of. Pure.

A model that no price fits is said to have none, and is never taken to be free.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Final

from orchestrator.model.prices import Price
from orchestrator.model.usage import NAMED, Tokens, Usage

UNKNOWN: Final = "a model that was not named"

_MILLION: Final = 1_000_000
_ENDS: Final = re.compile(
    r"(?:\[[^\]]*\]|@[\w.-]+|:[\w.-]+|-v[0-9]+|-20[0-9]{6}|-20[0-9]{2}-[0-9]{2}-[0-9]{2}|-latest|-preview(?:-[0-9-]+)?)+$"
)
"""What follows a model's name: its window, date or version, how it is served."""
_BEFORE: Final = re.compile(r"^(?:.*/)?(?:(?:[a-z-]+\.)?(?:anthropic|openai|google)\.)?")
"""Who serves it: `openrouter/anthropic/`, `us.anthropic.`."""


def plain_name(model: str) -> str:
    """Return a model's name without who serves it, its date and the like: patterns are held against that too."""
    name = _ENDS.sub("", _BEFORE.sub("", model.strip().lower()))
    return name.replace(".", "-") if name.startswith("claude") else name


def price_of(model: str, prices: Sequence[Price]) -> Price | None:
    """Return the first price whose pattern fits a model's name, as it stands or plain."""
    names = (model.strip().lower(), plain_name(model))
    return next(
        (
            price
            for price in prices
            if any(fnmatchcase(name, pattern) for pattern in price.models for name in names)
        ),
        None,
    )


def priced(usage: Usage, prices: Sequence[Price]) -> Usage:
    """Return what was used with its tokens by model made an estimate; without these, as it is journaled."""
    estimate, days, unpriced = None, set[str](), list[str]()
    for model, tokens in usage.models:
        if tokens == Tokens():
            continue
        price = price_of(model, prices) if model else None
        if price is None:
            unpriced.append(model or UNKNOWN)
        else:
            estimate = (estimate or 0.0) + dollars(tokens, price)
            days.add(price.date)
    return replace(
        usage,
        models=(),
        estimate=None if estimate is None else round(estimate, 9),
        prices=min(days, default=""),
        unpriced=tuple(unpriced[:NAMED]),
    )


def dollars(tokens: Tokens, price: Price) -> float:
    """Return what tokens cost. More from a cache, or into one, than went in at all is no more than that."""
    cached = min(tokens.cached, tokens.input)
    kept = min(tokens.kept, tokens.input - cached)
    written = min(tokens.written, tokens.input - cached - kept)
    fresh = tokens.input - cached - kept - written
    return (
        fresh * price.input
        + cached * price.cache_read
        + written * price.cache_write
        + kept * price.cache_write_hour
        + tokens.output * price.output
    ) / _MILLION
