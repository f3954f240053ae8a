"""How much a task may use, and how long it was at work (U6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.model.limits import Limits


class Measure(StrEnum):
    """What of a task is counted and can be limited."""

    TOKENS = "tokens"
    COST = "cost"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens in and out, US dollars, and seconds at work. None: as much as it takes.

    Of task.md's, None is what the settings say, unless it stands `alone`.
    """

    tokens: int | None = None
    cost: float | None = None
    time: float | None = None
    alone: bool = False

    def within(self, limits: Limits) -> Budget:
        """Return what a task may use whose own limits these are: where they say nothing, the settings do."""
        if self.alone:
            return Budget(self.tokens, self.cost, self.time)
        return Budget(
            limits.max_task_tokens if self.tokens is None else self.tokens,
            limits.max_task_cost if self.cost is None else self.cost,
            limits.max_task_time if self.time is None else self.time,
        )

    def of(self, measure: Measure) -> float | None:
        """Return how much of one thing it is."""
        match measure:
            case Measure.TOKENS:
                return self.tokens
            case Measure.COST:
                return self.cost
            case Measure.TIME:
                return self.time


@dataclass(frozen=True, slots=True)
class Worked:
    """For how many seconds a task was running, and for how many of them no run of it lived (`idle`).

    Both are counted up to `since` (seconds since the epoch), from when on the task runs; 0 while it does not, or if
    that is not known.
    """

    time: float = 0.0
    idle: float = 0.0
    since: float = 0.0

    def counted(self, at: float, *, busy: bool) -> Worked:
        """Return it counted up to `at`. `busy` says that a run lived all the while."""
        more = max(at - self.since, 0.0) if self.since else 0.0
        return Worked(self.time + more, self.idle + (0.0 if busy else more), at)

    def rested(self, at: float, *, busy: bool) -> Worked:
        """Return it as the task comes to rest; where `at` is not known (0), what came last is not counted."""
        counted = self.counted(at, busy=busy) if at else self
        return Worked(counted.time, counted.idle)
