"""One measured thing: its samples, those of its floor, and what it is to reach."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Of(StrEnum):
    """Which number a target speaks of."""

    RATIO = "ratio"  # of the medians
    MEDIAN = "median"
    P99 = "p99"


@dataclass(frozen=True)
class Reach:
    """What is to be reached: a number that is at most `most`."""

    of: Of
    most: float

    def __str__(self) -> str:
        return f"≤ {self.most:g} ×" if self.of is Of.RATIO else f"{self.of} ≤ {self.most:g}"


@dataclass(frozen=True)
class Row:
    """One line of the table. `floor` was measured in the same run, in turn with `samples`, in the same unit."""

    what: str
    unit: str
    samples: Sequence[float]
    floor: Sequence[float] = ()
    floor_is: str = ""
    reach: Reach | None = None
    note: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def p99(self) -> float:
        return p99(self.samples)

    @property
    def floor_median(self) -> float | None:
        return statistics.median(self.floor) if self.floor else None

    @property
    def floor_p99(self) -> float | None:
        """What the machine itself does to the slowest: a floor that stumbles tells of load, not of us."""
        return p99(self.floor) if self.floor else None

    @property
    def ratio(self) -> float | None:
        return self.median / self.floor_median if self.floor_median else None

    @property
    def met(self) -> bool | None:
        """Whether the target was reached; None where there is none."""
        if self.reach is None:
            return None
        found = {Of.RATIO: self.ratio, Of.MEDIAN: self.median, Of.P99: self.p99}[self.reach.of]
        return found is not None and found <= self.reach.most

    def shape(self) -> dict[str, Any]:
        """Return the row as the JSON document gives it."""
        return {
            "what": self.what,
            "unit": self.unit,
            "median": self.median,
            "p99": self.p99,
            "samples": len(self.samples),
            "floor": self.floor_median,
            "floor_p99": self.floor_p99,
            "floor_is": self.floor_is,
            "ratio": self.ratio,
            "reach": str(self.reach) if self.reach else None,
            "met": self.met,
            "note": self.note,
        }


def p99(samples: Sequence[float]) -> float:
    """Return the nearest rank: of fewer than 100 samples that is the worst."""
    return sorted(samples)[math.ceil(0.99 * len(samples)) - 1]
