"""Judgements of single nights on the orders that agents were given."""

from __future__ import annotations

from collections.abc import Callable

from tests.nights.observation import Observation

Also = Callable[[Observation], list[str]]


def second_order_bears(agent: str, part: str, words: str) -> Also:
    """Have the second order of an agent for a part bear these words."""

    def also(seen: Observation) -> list[str]:
        texts = [each.text for each in seen.orders if each.agent == agent and each.part == part]
        if len(texts) < 2:
            return [f"{agent} had no second order for {part}"]
        return (
            [] if words in texts[1] else [f"the second order of {agent} for {part} does not bear {words!r}"]
        )

    return also


def only_one_run(agent: str, part: str) -> Also:
    """Have an agent been given one order for a part, and no more."""

    def also(seen: Observation) -> list[str]:
        runs = [each.run for each in seen.orders if each.agent == agent and each.part == part]
        return [] if len(runs) == 1 else [f"{agent} had {len(runs)} orders for {part}, not one"]

    return also
