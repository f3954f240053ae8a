"""Finding the most that can be kept of a change, when the whole of it does harm."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Budget:
    """How often, and until when, may still be tried."""

    tries: int
    until: float = field(default=float("inf"))
    clock: Callable[[], float] = time.monotonic

    def spend(self) -> bool:
        """Take one try; False if there is none left."""
        if self.tries <= 0 or self.clock() >= self.until:
            return False
        self.tries -= 1
        return True


def keep_harmless(
    units: Sequence[T], harmless: Callable[[Sequence[T]], bool], budget: Budget, kept: Sequence[T] = ()
) -> list[T]:
    """The units that can be kept together, found by halving.

    Args:
        units: What to choose from, the most trusted first.
        harmless: Whether a choice does no harm; called with all that is kept and some more.
        budget: The bound on calls; what could not be tried within it is not kept.
        kept: What is already known to be harmless.

    Returns:
        `kept` and what could be added to it: the last choice that was seen to be harmless.
    """
    if not units or not budget.spend():
        return list(kept)
    whole = [*kept, *units]
    if harmless(whole):
        return whole
    if len(units) == 1:
        return list(kept)
    half = len(units) // 2
    first = keep_harmless(units[:half], harmless, budget, kept)
    return keep_harmless(units[half:], harmless, budget, first)
