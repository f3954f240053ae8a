"""When to retry a step whose service is overloaded, and when to ask: a pure function of what is known (law 2).

::

    overloaded ─▶ after 15 s ─▶ as long again as it has lasted ─▶ 90, 90, 90 … s ─▶ after a day: a question

An overload ends without notice, and whoever waits for it loses what passes until the next try. So no pause is longer
than a minute and a half. With the time that a program takes to start and to ask, a step begins at most two minutes
after the service recovered, however long that took. A day of it costs fewer than 1,000 refused requests.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Tally


def overloaded(tally: Tally, at: float) -> Tally:
    """Return the counts of a step after its service was overloaded once more."""
    since = tally.overloaded_since or at
    return replace(tally, overloads=tally.overloads + 1, overloaded_since=since)


def recovered(tally: Tally) -> Tally:
    """Return the counts of a step after its service answered."""
    return replace(tally, overloads=0, overloaded_since=0.0)


def pause(tally: Tally, limits: Limits, at: float) -> float:
    """Return how many seconds to wait after an overload that came `at`."""
    return min(max(limits.overload_pause, at - tally.overloaded_since), limits.max_overload_pause)


def outlasts(tally: Tally, limits: Limits, at: float) -> bool:
    """Return whether an overload that came `at` outlasts any known outage: then a person must decide about it."""
    return tally.overloads > limits.max_overloads and at >= tally.overloaded_since + limits.overload_window


def moved_by_clock(tally: Tally, put: float) -> Tally:
    """Return the counts of a step after this machine's clock was set forward by `put` seconds."""
    return replace(tally, overloaded_since=tally.overloaded_since + put) if tally.overloaded_since else tally
