"""The counts of a simulation, as a table."""

from __future__ import annotations

from collections import Counter
from typing import Final

FIRST: Final = (
    "worlds",
    "days",
    "busy days",
    "CPU seconds",
    "tasks",
    "turns",
    "facts",
    "changes",
    "check-ins",
    "runs",
    "handoffs taken in",
    "merges",
    "questions asked",
    "questions answered",
    "deaths of the daemon",
)


def table(counts: Counter[str]) -> str:
    """Return the counts as a table: the most important first, the rest by name."""
    rest = sorted(set(counts).difference(FIRST))
    width = max(map(len, counts), default=0)
    return "".join(f"{name:{width}}  {counts[name]:12,}\n" for name in (*FIRST, *rest) if counts[name])
