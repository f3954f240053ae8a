"""Foreign files in `handoffs/`: reported and ignored, many of them by one fact.

The first ones are reported at once. An agent that leaves one after the other there would add a journal line with each,
so further ones are withheld for a while and are reported together.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from orchestrator.daemon.ingest.change_backoff import ChangeBackoff
from orchestrator.model.facts import Intruded

_ALL: Final = "foreign files"

Stamp = int


@dataclass(slots=True)
class ForeignFiles:
    """The foreign files of one task that were read and are not reported yet, with their stamps."""

    _withheld: dict[str, tuple[Stamp, Intruded]] = field(default_factory=dict)
    _backoff: ChangeBackoff = field(default_factory=ChangeBackoff)

    def holds(self, name: str, stamp: Stamp, at: float) -> bool:
        """Return whether a file is withheld as it is now: it needs no further look yet."""
        known, _ = self._withheld.get(name, (None, None))
        return known == stamp and self._backoff.waits(_ALL, at)

    def withhold(self, fact: Intruded, entry_name: str, stamp: Stamp) -> bool:
        """Withhold a file if too many others were reported just now. Return whether it is withheld."""
        if not self._backoff.waits(_ALL, fact.at):
            return False
        self._withheld[entry_name] = stamp, fact
        return True

    def together(self, fact: Intruded, entry_name: str) -> tuple[Intruded, dict[str, Stamp]]:
        """Return the fact for a file and all withheld ones, and the stamps with which those are known."""
        self._backoff.count(_ALL, fact.at)
        self._withheld.pop(entry_name, None)
        withheld, self._withheld = self._withheld, {}
        others = tuple((each.name, each.sha256) for _, each in withheld.values())
        return replace(fact, others=others), {name: stamp for name, (stamp, _) in withheld.items()}

    def forget(self, name: str) -> None:
        """Forget a file that is gone, or was handled otherwise."""
        self._withheld.pop(name, None)
