"""When to retry a step that a usage limit holds up: a pure function of what is known of the limit (law 2).

::

    refused ─┬─ a reset time T is shown ─▶ T-30 s ─▶ T+62 s ─▶ after 30, 30, 60, 90, 90 … s
             │     └─ more than 6 hours ahead ─▶ also after 15 and 30 min, 1, 2, 4 … h
             └─ none is shown ────────────────────────────────▶ after 30, 30, 60, 90, 90 … s
    beyond 6 hours of that ─▶ after 90 s and a twelfth of what is beyond, at most 20 min

Programs show a reset time without its seconds, services lift a limit late, and clocks differ by minutes. So the step
is tried a little before the shown time, once more when that minute is surely over, and then with pauses of a minute and
a half at most; so too if no time is shown. A step then begins at most two minutes after the limit was lifted, for as
long as the windows of sessions last. That costs at most 40 refused requests an hour, and about 300 in a whole day, as
longer limits are waited for with longer pauses. A time of day that has just passed is never read as tomorrow's alone.
Where the machine's clock is set by more than two minutes, the service is asked at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Notify
from orchestrator.model.task import TaskState
from orchestrator.model.usage_limit import Reset, UsageLimit

if TYPE_CHECKING:
    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.task_state import PMState

EARLY: Final = 30.0
"""Seconds ahead of a time of day or a date, in case this machine's clock is slow. Wasted if the clock is right."""

AFTER: Final = 2.0
LEAST: Final = 30.0
CLOSE: Final = 90.0
"""Seconds of the pauses around a shown reset: the first, and the longest within `SESSION`. With the time that a program
takes to start and to ask, that stays below two minutes."""

HOUR: Final = 3600.0
SESSION: Final = 6 * HOUR
"""Seconds: longer than any window that is counted in hours. The others are days and weeks."""

SHARE: Final = 12.0
"""Beyond `SESSION`, pauses grow by this part of the delay so far."""

DOUBT: Final = 900.0
"""Seconds. A reset further ahead than a session's limit is also tried in between: first after `DOUBT`, then each time
after as long as has passed. It may be misread by a clock that is off by hours, be bought off, or be lifted early."""

DAY: Final = 86400.0
MOMENTS: Final = 6
NEAR: Final = 1200.0
"""Seconds: a new reset that replaces one that has passed, and is nearer than this, is the same delay, no new window."""

PUT_RIGHT: Final = 120.0
"""Seconds by which a clock may be off without any harm: one that is set by less was put right."""

_CHANGED: Final = frozenset({0.0, 1800.0, 3600.0})
"""By how many seconds the shown time of day may differ the next day: daylight saving shifts half an hour or one."""


def refused(known: UsageLimit | None, words: str, reset: Reset | None, at: float) -> UsageLimit:
    """Return what is known of a limit after the service has refused again.

    Args:
        known: what was known before; None at the first refusal.
        words: the program's message.
        reset: when the limit ends according to the message.
        at: when the service refused, in seconds since the epoch.

    """
    if known is None:
        return UsageLimit(at, at, words, 1, reset)
    again = replace(known, at=at, refusals=known.refusals + 1)
    if reset is None:
        return again if known.reset is not None else replace(again, words=words)
    if known.reset is None:
        return replace(again, words=words, reset=reset)
    if set(known.reset.moments) & set(reset.moments):
        return replace(again, words=words)  # the earlier reading of the reset was more precise
    if reset.by_clock and _same_time_of_day(known.reset, reset):
        both = sorted({*known.reset.moments, *reset.moments})[-MOMENTS:]
        return replace(again, words=words, reset=replace(reset, moments=tuple(both)))
    return replace(again, words=words, reset=reset, overdue=_overdue(known, reset, at))


def next_try(limit: UsageLimit, limits: Limits) -> float:
    """Return when to retry a limited step, in seconds since the epoch; never later than the longest window."""
    if limit.reset is None:
        longest = limits.max_usage_limit_pause
        later = limit.at + _pause(limit.at - limit.since, longest, close=limits.usage_limit_pause)
    else:
        later = _around(limit.reset, limit.at, limits.max_usage_limit_pause)
        if limit.overdue is not None:
            later = max(later, limit.at + _pause(limit.at - limit.overdue, limits.max_usage_limit_pause))
    if later > limit.at + SESSION:
        later = min(later, limit.at + max(limit.at - limit.since, DOUBT))
    return min(later, limit.at + limits.usage_limit_window)


def outlasts(limit: UsageLimit, limits: Limits) -> bool:
    """Return whether a limit lasts longer than any known window: then a person must decide whether to wait.

    Either the limit says so itself, or it has lasted that long and refused `limits.max_usage_limits` times.
    """
    until = limit.reset.moments[0] if limit.reset is not None else limit.at
    if until > limit.at + limits.usage_limit_window + limits.max_usage_limit_pause:
        return True
    return limit.refusals > limits.max_usage_limits and limit.at >= limit.since + limits.usage_limit_window


def shown_reset(limit: UsageLimit) -> float | None:
    """Return when a limit is to end by the last message, in seconds since the epoch; None if none was shown."""
    if limit.reset is None:
        return None
    ahead = [moment for moment in limit.reset.moments if moment + limit.reset.within >= limit.at]
    return ahead[0] if ahead else limit.reset.moments[-1]


def parked(state: PMState) -> tuple[Step, ...]:
    """Return the steps held up by usage limits if nothing else of the task goes on; none if the task is stopped."""
    if (
        state.state is not TaskState.RUNNING
        or state.live_runs
        or any(not isinstance(action, Notify) for action in state.outbox.values())
    ):
        return ()
    return tuple(step for step in state.steps.among(state.steps.pausing) if step.limited)


def moved_by_clock(limit: UsageLimit, put: float) -> UsageLimit:
    """Return what is known of a limit after this machine's clock was set forward by `put` seconds.

    Times measured by this machine move along. Times that a wall clock shows stay as they are, if the clock was put
    right by a little. If it was set by more, nobody knows whether it was right before or is now: they stay, and move
    along as well. So it costs a few requests, and not the time that the clock was set by.
    """
    reset = limit.reset
    if reset is not None:
        moved = tuple(moment + put for moment in reset.moments)
        if not reset.by_clock:
            reset = replace(reset, moments=moved)
        elif abs(put) > PUT_RIGHT:
            nearest = sorted({*reset.moments, *moved}, key=lambda each: abs(each - limit.at - put))
            reset = replace(reset, moments=tuple(sorted(nearest[:MOMENTS])))
    return replace(limit, since=limit.since + put, at=limit.at + put, reset=reset)


def try_after_move(limit: UsageLimit, put: float, at: float, limits: Limits) -> float:
    """Return when to retry after this machine's clock was set forward by `put` seconds, to `at`.

    `limit` was moved already. Where the clock was set by much, the service is asked at once: a time of day is read anew
    then, by the clock as it is now.
    """
    if abs(put) > PUT_RIGHT and limit.reset is not None and limit.reset.by_clock:
        return max(at, limit.at + LEAST)
    return max(next_try(limit, limits), at)


def _overdue(known: UsageLimit, reset: Reset, at: float) -> float | None:
    if known.reset is None or reset.moments[0] - at > NEAR:
        return None
    came = [moment for moment in known.reset.moments if moment <= at]
    return came[0] if known.overdue is None and came else known.overdue


def _same_time_of_day(known: Reset, shown: Reset) -> bool:
    """Return whether two resets show the same time of day: then it may be the earlier one, not tomorrow's."""
    apart = [(shown.moments[0] - moment) % DAY for moment in known.moments]
    return any(min(each, DAY - each) in _CHANGED for each in apart)


def _around(reset: Reset, at: float, longest: float) -> float:
    """Return the next moment to retry around the moments at which a limit may end."""
    early, within = (EARLY if reset.by_clock else 0.0), (reset.within if reset.within <= CLOSE else 0.0)
    begun = [moment for moment in reset.moments if moment - early <= at]
    ahead = [moment for moment in reset.moments if moment - early > at]
    tries = [moment - early if reset.by_clock else moment + within + AFTER for moment in ahead[:1]]
    if begun:
        late = at - begun[-1] - within
        tries.append(begun[-1] + within + AFTER if late < 0 else at + _pause(late, longest))
    return min(tries)


def _pause(late: float, longest: float, close: float = CLOSE) -> float:
    """Return how many seconds to wait for a service that is late by so many seconds.

    `close` is the longest pause while the delay is short, `longest` that of all.
    """
    return min(max(LEAST, late), close + max(0.0, late - SESSION) / SHARE, longest)
