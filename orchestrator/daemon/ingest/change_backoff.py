"""Files that change again and again are handled less and less often: each change costs a journal line for good."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

OFTEN: Final = 4
MANY: Final = 20
CALM: Final = 60.0
"""After `OFTEN` changes a thing is handled again less and less often, and after `CALM` seconds like any other.
At most `MANY` changes are counted."""

_FIRST: Final = 0.5
"""Half of the first pause, in seconds."""


@dataclass(slots=True)
class ChangeBackoff:
    """Counts how often each of several things was changed, and when it last was."""

    _changes: dict[str, tuple[int, float]] = field(default_factory=dict)

    def count(self, key: str, at: float) -> None:
        """Count a change that is handled now."""
        times, last = self._changes.get(key, (0, at))
        self._changes[key] = (1 if at - last > CALM else min(times + 1, MANY), at)

    def waits(self, key: str, at: float) -> bool:
        """Return whether the next change of a thing is not handled yet. A clock that was set back ends the wait."""
        _, last = self._changes.get(key, (0, at))
        return last <= at < self.due_at(key)

    def due_at(self, key: str) -> float:
        """Return when the next change of a thing may be handled."""
        times, last = self._changes.get(key, (0, 0.0))
        return last if times < OFTEN else last + min(_FIRST * (1 << (times - OFTEN + 1)), CALM)
