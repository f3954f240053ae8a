"""Judgements of single nights on the orders that agents were given."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.nights.observation import Observation, Order

Also = Callable[[Observation], list[str]]


def _orders(seen: Observation, agent: str, part: str) -> list[Order]:
    """Return the orders of an agent for a part, also those of a second one of it at the same time (`dev-2`)."""
    return [
        each for each in seen.orders if re.sub(r"-[0-9]+$", "", each.agent) == agent and each.part == part
    ]


def second_order_bears(agent: str, part: str, words: str) -> Also:
    """Have the second order of an agent for a part bear these words."""

    def also(seen: Observation) -> list[str]:
        texts = [each.text for each in _orders(seen, agent, part)]
        if len(texts) < 2:
            return [f"{agent} had no second order for {part}"]
        return (
            [] if words in texts[1] else [f"the second order of {agent} for {part} does not bear {words!r}"]
        )

    return also


def first_order_bears(agent: str, part: str, words: str) -> Also:
    """Have the first order of an agent for a part bear these words."""

    def also(seen: Observation) -> list[str]:
        texts = [each.text for each in _orders(seen, agent, part)]
        if not texts:
            return [f"{agent} had no order for {part}"]
        return [] if words in texts[0] else [f"the first order of {agent} for {part} does not bear {words!r}"]

    return also


def only_one_run(agent: str, part: str) -> Also:
    """Have an agent been given one order for a part, and no more."""

    def also(seen: Observation) -> list[str]:
        runs = [each.run for each in _orders(seen, agent, part)]
        return [] if len(runs) == 1 else [f"{agent} had {len(runs)} orders for {part}, not one"]

    return also


def goes_on(agent: str, part: str) -> Also:
    """Have every further run of an agent for a part go on with the conversation of the first, and in its tree."""

    def also(seen: Observation) -> list[str]:
        runs = _orders(seen, agent, part)
        if len(runs) < 2:
            return [f"{agent} had no second order for {part}"]
        tree, what = runs[0].tree, f"of {agent} for {part}"
        anew = [
            f"{each.run} {what} began with an empty conversation" for each in runs[1:] if not each.earlier
        ]
        return anew + [
            f"{each.run} {what} works in {each.tree}, not in {tree}" for each in runs if each.tree != tree
        ]

    return also
