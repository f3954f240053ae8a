"""A usage limit of a model's service: when it ends as far as its program shows that, and what was tried since."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reset:
    """When a limit ends, as a program shows it.

    `moments` are seconds since the epoch, in order: one as a rule, more where the words may mean more than one. A
    time of day that is just past may be tomorrow's, and one in an hour that clocks repeat comes twice. The limit ends
    up to `within` seconds after its moment: programs leave out the seconds. `by_clock`: it was shown as a time of day
    or a date, and is as true as this machine's clock; else it was shown as a span from the moment of the refusal.
    """

    moments: tuple[float, ...]
    within: float = 0.0
    by_clock: bool = True


@dataclass(frozen=True, slots=True)
class UsageLimit:
    """What is known of a limit that holds up a step. Times are seconds since the epoch.

    The service refused for the first time at `since` and last at `at`, `refusals` times in a row, in these `words`.
    `overdue` is the first shown reset that came without the limit being lifted, where another one that is near was
    shown in its place, perhaps again and again.
    """

    since: float
    at: float
    words: str
    refusals: int = 1
    reset: Reset | None = None
    overdue: float | None = None
