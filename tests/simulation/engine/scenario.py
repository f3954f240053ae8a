"""What may happen in a world beyond the ordinary, each thing by a name of its own.

A failure is told with few of them: `only` lets nothing else happen. What is drawn about one thing depends on its
name and the seed alone, so that leaving one out does not make another of the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random


@dataclass(slots=True)
class Scenario:
    """What a seed has in store. `happened` are the names of what came about, with the moment, by `now`."""

    seed: str
    only: frozenset[str] | None = None
    happened: dict[str, float] = field(default_factory=dict)
    now: Callable[[], float] = lambda: 0.0

    def random(self, about: str) -> Random:
        """Return the dice for one thing."""
        return Random(f"{self.seed}/{about}")

    def lets(self, name: str) -> bool:
        """Tell whether something that is about to happen may."""
        if self.only is not None and name not in self.only:
            return False
        self.happened.setdefault(name, self.now())
        return True

    def kinds(self) -> Counter[str]:
        """Return how often what kind of thing happened: the part of each name ahead of its full stop."""
        return Counter(name.partition(".")[0] for name in self.happened)
