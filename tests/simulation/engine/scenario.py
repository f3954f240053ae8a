"""What may happen in a world beyond the ordinary. Each event has a name.

A failure is shrunk to a few events: `only` allows no others. What is drawn for one event depends on its name and the
seed alone, so leaving one out does not change the others. So the names are part of
what a seed means: renaming one changes the worlds that are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random


@dataclass(slots=True)
class Scenario:
    """The events of one seed. `happened` has the name of each that occurred, with its time by `now`."""

    seed: str
    only: frozenset[str] | None = None
    happened: dict[str, float] = field(default_factory=dict)
    now: Callable[[], float] = lambda: 0.0

    def random(self, about: str) -> Random:
        """Return the random numbers of one event."""
        return Random(f"{self.seed}/{about}")

    def allows(self, name: str) -> bool:
        """Return whether an event may occur, and note that it does."""
        if self.only is not None and name not in self.only:
            return False
        self.happened.setdefault(name, self.now())
        return True

    def kinds(self) -> Counter[str]:
        """Return how often each kind of event occurred. The kind is the part of the name ahead of its full stop."""
        return Counter(name.partition(".")[0] for name in self.happened)
