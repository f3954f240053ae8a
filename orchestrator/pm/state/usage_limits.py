"""When a step that a usage limit holds up is tried again: a function of what is known of the limit (law 2).

::

    refused ─┬─ a reset T is shown ─▶ T-30 s ─▶ T+62 s ─▶ after 30, 30, 60, 90, 90 … s ─▶ a twelfth of the time since T
             │     └─ in over 6 hours ─▶ besides after 15 and 30 min, 1, 2, 4 … h
             └─ none is ────────────▶ after 1, 1, 2, 4, 8, 16 min ─▶ and so on, at most 20 min in both

Programs show a reset without its seconds, services lift a limit late, and clocks differ by minutes: so it is tried a
little before what is shown, once more when the minute is surely over, and then with pauses that grow with the time
for which the service is late. Until that is a quarter of an hour nothing stands still for two minutes that need not;
after it, for no more than a twelfth of the time that the service is late. A moment just past is never tomorrow's alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Tell
from orchestrator.model.task import TaskState
from orchestrator.model.usage_limit import Reset, UsageLimit

if TYPE_CHECKING:
    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.task_state import PMState

EARLY: Final = 30.0
"""Seconds ahead of a time of day or a date, since this machine's clock may be slow. Wasted where it is right."""

AFTER: Final = 2.0
LEAST: Final = 30.0
CLOSE: Final = 90.0
"""Seconds of the pauses around a shown reset: the first, and the longest while the service is little late. With the
time that a program takes to start and to ask that is less than two minutes."""

SHARE: Final = 12.0
"""Later on a pause is this part of the time for which the service is late."""

SESSION: Final = 6 * 3600.0
DOUBT: Final = 900.0
"""Seconds. What ends later than a session's limit can is tried in between too: first after `DOUBT`, then after as long
as it was waited for. It may be misread, where a clock is off by hours; it may be bought off, or lifted early."""

DAY: Final = 86400.0
MOMENTS: Final = 6
NEAR: Final = 1200.0
"""Seconds: a reset that is shown in the place of one that came, and is nearer, is no new window but the same delay."""

_CHANGED: Final = frozenset({0.0, 1800.0, 3600.0})
"""By how many seconds a time of day may come otherwise on the next day: clocks are changed by half an hour or one."""


def refused(known: UsageLimit | None, words: str, reset: Reset | None, at: float) -> UsageLimit:
    """Return what is known of a limit once the service has refused again.

    Args:
        known: what was known before; None at the first refusal.
        words: what the program said.
        reset: when it ends, as they show it.
        at: when it refused, in seconds since the epoch.

    """
    if known is None:
        return UsageLimit(at, at, words, 1, reset)
    again = replace(known, at=at, refusals=known.refusals + 1)
    if reset is None:
        return again if known.reset is not None else replace(again, words=words)
    if known.reset is None:
        return replace(again, words=words, reset=reset)
    if set(known.reset.moments) & set(reset.moments):
        return replace(again, words=words)  # what else they may mean was known better before
    if reset.by_clock and _same_time_of_day(known.reset, reset):
        both = sorted({*known.reset.moments, *reset.moments})[-MOMENTS:]
        return replace(again, words=words, reset=replace(reset, moments=tuple(both)))
    return replace(again, words=words, reset=reset, overdue=_overdue(known, reset, at))


def next_try(limit: UsageLimit, limits: Limits) -> float:
    """Return when a limited step is tried again, in seconds since the epoch; never later than the longest window."""
    if limit.reset is None:
        later = limit.at + min(
            max(limit.at - limit.since, limits.usage_limit_pause), limits.max_usage_limit_pause
        )
    else:
        later = _around(limit.reset, limit.at, limits.max_usage_limit_pause)
        if limit.overdue is not None:
            later = max(later, limit.at + _pause(limit.at - limit.overdue, limits.max_usage_limit_pause))
    if later > limit.at + SESSION:
        later = min(later, limit.at + max(limit.at - limit.since, DOUBT))
    return min(later, limit.at + limits.usage_limit_window)


def outlasts(limit: UsageLimit, limits: Limits) -> bool:
    """Return whether a limit lasts longer than any window that is known: then waiting is for a person to decide.

    Either it says so itself, or it was waited for as long, and refused `limits.max_usage_limits` times.
    """
    until = limit.reset.moments[0] if limit.reset is not None else limit.at
    if until > limit.at + limits.usage_limit_window + limits.max_usage_limit_pause:
        return True
    return limit.refusals > limits.max_usage_limits and limit.at >= limit.since + limits.usage_limit_window


def shown_reset(limit: UsageLimit) -> float | None:
    """Return the moment at which a limit is to end by what was shown last; None if nothing was."""
    if limit.reset is None:
        return None
    ahead = [moment for moment in limit.reset.moments if moment + limit.reset.within >= limit.at]
    return ahead[0] if ahead else limit.reset.moments[-1]


def parked(state: PMState) -> tuple[Step, ...]:
    """Return the steps that usage limits hold up, where nothing else of the task goes on; none where it was stopped."""
    if (
        state.state is not TaskState.RUNNING
        or state.live_runs
        or any(not isinstance(action, Tell) for action in state.outbox.values())
    ):
        return ()
    return tuple(step for step in state.steps.among(state.steps.pausing) if step.limited)


def moved_by_clock(limit: UsageLimit, put: float) -> UsageLimit:
    """Return what is known of a limit once this machine's clock was set forward by `put` seconds.

    What a clock on the wall shows stays what it is; what was measured from a moment on moves along.
    """
    reset = limit.reset
    if reset is not None and not reset.by_clock:
        reset = replace(reset, moments=tuple(moment + put for moment in reset.moments))
    return replace(limit, since=limit.since + put, at=limit.at + put, reset=reset)


def _overdue(known: UsageLimit, reset: Reset, at: float) -> float | None:
    if known.reset is None or reset.moments[0] - at > NEAR:
        return None
    came = [moment for moment in known.reset.moments if moment <= at]
    return came[0] if known.overdue is None and came else known.overdue


def _same_time_of_day(known: Reset, told: Reset) -> bool:
    """Return whether a clock would show the same again: it may be what was shown before, and not tomorrow's."""
    apart = [(told.moments[0] - moment) % DAY for moment in known.moments]
    return any(min(each, DAY - each) in _CHANGED for each in apart)


def _around(reset: Reset, at: float, longest: float) -> float:
    """Return the next moment to try at around the moments at which a limit may end."""
    early, within = (EARLY if reset.by_clock else 0.0), (reset.within if reset.within <= CLOSE else 0.0)
    begun = [moment for moment in reset.moments if moment - early <= at]
    ahead = [moment for moment in reset.moments if moment - early > at]
    tries = [moment - early if reset.by_clock else moment + within + AFTER for moment in ahead[:1]]
    if begun:
        late = at - begun[-1] - within
        tries.append(begun[-1] + within + AFTER if late < 0 else at + _pause(late, longest))
    return min(tries)


def _pause(late: float, longest: float) -> float:
    """Return how long to wait for a service that is late by so many seconds."""
    return min(max(LEAST, min(late, CLOSE), late / SHARE), longest)
