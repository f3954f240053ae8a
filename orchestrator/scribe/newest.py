"""Names in order of time: the newest at hand without a look at the others."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from typing import Final

FEW: Final = 64
"""Up to so many names are put in place one by one; more are sorted in."""


class Newest:
    """Each name with its time (seconds since the epoch)."""

    def __init__(self) -> None:
        self._times: dict[str, float] = {}
        self._order: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._times)

    def put(self, times: Mapping[str, float]) -> None:
        """Set the time of each of these names."""
        self.drop(times)
        self._times.update(times)
        if len(times) <= FEW:
            for name, at in times.items():
                insort(self._order, (at, name))
        else:
            self._order += [(at, name) for name, at in times.items()]
            self._order.sort()

    def drop(self, names: Iterable[str]) -> None:
        """Forget these names."""
        gone = {name: at for name in names if (at := self._times.pop(name, None)) is not None}
        if len(gone) <= FEW:
            for name, at in gone.items():
                del self._order[bisect_left(self._order, (at, name))]
        else:
            self._order = [pair for pair in self._order if pair[1] not in gone]

    def newest(self, count: int) -> list[tuple[float, str]]:
        """Return the last `count` in time with their times, the newest first."""
        return self._order[: -count - 1 : -1]

    def count_since(self, at: float) -> int:
        """Return how many names have this time or a later one."""
        return len(self._order) - bisect_left(self._order, (at, ""))

    def forget_before(self, at: float, keep: int = 0) -> None:
        """Forget the names that have an earlier time, but for the newest `keep` of all."""
        older = min(bisect_left(self._order, (at, "")), max(len(self._order) - keep, 0))
        for _, name in self._order[:older]:
            del self._times[name]
        del self._order[:older]
