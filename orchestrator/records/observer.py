"""The figures of a period: how long what took, what went wrong, what waits (C7). Pure; `passages` says of what.

Percentiles are nearest ranks: each is a duration that was really seen.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from orchestrator.model.coordination import IssueSeverity, iso
from orchestrator.records.passages import IssueSeen, Passage, TaskTimes

DAY: Final = 86_400.0
STUCK: Final = DAY
"""Seconds after which a handoff that nobody took is stuck, and an attempt that does not end."""

SLOW: Final = 2.0
"""A transition is a bottleneck if its median is so many times that of all."""

SLOW_COUNT: Final = 2
"""How many of a transition must be timed before it is called a bottleneck."""


@dataclass(frozen=True, slots=True)
class Durations:
    """How long something took, in seconds; None where nothing was timed."""

    count: int
    mean: float | None
    median: float | None
    p90: float | None
    longest: float | None


@dataclass(frozen=True, slots=True)
class Route:
    """What went from one role to another. `good` of `decided` were of use."""

    source: str
    target: str
    count: int
    seconds: Durations
    decided: int
    good: int
    slow: bool


@dataclass(frozen=True, slots=True)
class Use:
    """What a role used, over all the time of the tasks that were at work in the period. None: no program told."""

    role: str
    runs: int
    seconds: float
    tokens: int | None
    cost: float | None
    estimate: float | None


@dataclass(frozen=True, slots=True)
class Observation:
    """The figures of a period, from `since` until before `until` (seconds since the epoch)."""

    since: float
    until: float
    made_at: float
    passages: tuple[Passage, ...]
    routes: tuple[Route, ...]
    overall: Durations
    completed: int
    active: int
    stuck: tuple[Passage, ...]
    issues: tuple[IssueSeen, ...]
    issues_before: Mapping[IssueSeverity, int]
    blockers: int
    waits: Durations
    open_waits: tuple[float, ...]
    dead: float
    at_work: float
    uses: tuple[Use, ...] = field(default=())

    @property
    def decided(self) -> int:
        """How many of what was handed on have been decided."""
        return sum(each.decided for each in self.routes)

    @property
    def good(self) -> int:
        """How many of these were of use."""
        return sum(each.good for each in self.routes)

    @property
    def reworked(self) -> int:
        """How many were work done again: plans that did not hold, second and later attempts."""
        return sum(each.rework for each in self.passages)

    @property
    def replanned(self) -> int:
        """How many handoffs asked for another plan."""
        return sum(each.replans for each in self.passages)


def observe(
    roles: Sequence[Passage],
    issues: Sequence[IssueSeen],
    chains: Mapping[str, float],
    tasks: Sequence[TaskTimes],
    *,
    since: float,
    until: float,
    now: float,
) -> Observation:
    """Return the figures of a period.

    Args:
        roles: The handoffs of the archive.
        issues: Its issues.
        chains: When each of its chains came to `complete` (seconds since the epoch).
        tasks: What the tasks' journals say. Of a task that the archive has, the archive counts.
        since: The beginning of the period, in seconds since the epoch.
        until: Its end, which does not belong to it.
        now: The present moment.

    """
    end, archived = min(until, now), {each.task for each in roles}
    others = [each for each in tasks if not {each.id, each.name} & archived]
    every = [*roles, *(passage for each in others for passage in each.passages)]
    done = [each for each in every if each.handed and since <= each.at < until]
    standing = [each for each in every if each.open and each.at < until]
    seen = [each for each in issues if since <= each.at < until]
    answered, open_waits = _waits(tasks, since, end)
    at_work = [
        each for each in tasks if each.began is not None and _meets((each.began, each.ended), since, end)
    ]
    return Observation(
        since=since,
        until=until,
        made_at=now,
        passages=tuple(done),
        routes=_routes(done),
        overall=durations(each.seconds for each in done if each.seconds is not None),
        completed=sum(since <= at < until for at in (*chains.values(), *_completed(others))),
        active=len(standing),
        stuck=tuple(each for each in standing if (each.waits or not each.handed) and end - each.at > STUCK),
        issues=tuple(seen),
        issues_before=Counter(each.severity for each in issues if since - (until - since) <= each.at < since),
        blockers=sum(each.left and each.severity is IssueSeverity.CRITICAL for each in seen),
        waits=answered,
        open_waits=open_waits,
        dead=sum(_within(each.idle, since, end) for each in tasks),
        at_work=_worked(at_work, since, end),
        uses=_uses(at_work),
    )


def durations(seconds: Iterable[float]) -> Durations:
    """Return how long things took."""
    ordered = sorted(seconds)
    if not ordered:
        return Durations(0, None, None, None, None)
    return Durations(
        len(ordered), math.fsum(ordered) / len(ordered), _rank(ordered, 0.5), _rank(ordered, 0.9), ordered[-1]
    )


def days(found: Observation) -> list[tuple[str, Counter[IssueSeverity]]]:
    """Return how many issues of each severity first came up on each day with any, the earliest day first."""
    counted = defaultdict[str, Counter[IssueSeverity]](Counter)
    for each in found.issues:
        counted[iso(each.at)[:10]][each.severity] += 1
    return sorted(counted.items())


def share(part: int, whole: int) -> str:
    """Return a share in words, with the two numbers that it is made of."""
    return f"{100 * part / whole:.0f} % ({part} of {whole})" if whole else "unknown (0 of 0)"


def _completed(tasks: Iterable[TaskTimes]) -> Iterator[float]:
    """Yield when tasks were completed."""
    return (each.ended for each in tasks if each.complete and each.ended is not None)


def _waits(tasks: Iterable[TaskTimes], since: float, end: float) -> tuple[Durations, tuple[float, ...]]:
    """Return how long answers took, and how long what is open at the end has waited by then, the longest first."""
    asked = [pair for each in tasks for pair in each.questions if _meets(pair, since, end)]
    answered = [at - began for began, at in asked if at is not None and at <= end]
    still = [end - began for began, at in asked if at is None or at > end]
    return durations(answered), tuple(sorted(still, reverse=True))


def _worked(tasks: Iterable[TaskTimes], since: float, end: float) -> float:
    """Return how many seconds of a period tasks were at work, those left out in which they rested."""
    return sum(
        _within([(each.began or 0.0, each.ended)], since, end) - _within(each.resting, since, end)
        for each in tasks
    )


def _routes(done: Sequence[Passage]) -> tuple[Route, ...]:
    by_route = defaultdict[tuple[str, str], list[Passage]](list)
    for each in done:
        by_route[each.source, each.target].append(each)
    whole = durations(each.seconds for each in done if each.seconds is not None).median
    made = []
    for (source, target), found in by_route.items():
        took = durations(each.seconds for each in found if each.seconds is not None)
        decided = [each.good for each in found if each.good is not None]
        slow = bool(whole and took.median and took.count >= SLOW_COUNT and took.median > SLOW * whole)
        made.append(Route(source, target, len(found), took, len(decided), sum(decided), slow))
    return tuple(sorted(made, key=lambda each: (-each.count, each.source, each.target)))


def _uses(tasks: Iterable[TaskTimes]) -> tuple[Use, ...]:
    by_role = defaultdict[str, list[Mapping[str, Any]]](list)
    for task in tasks:
        for row in task.used_by:
            by_role[str(row.get("agent"))].append(row)
    return tuple(
        Use(
            role,
            int(_sum(rows, "runs") or 0),
            float(_sum(rows, "time") or 0.0),
            None if (tokens := _sum(rows, "tokens")) is None else int(tokens),
            _sum(rows, "cost"),
            _sum(rows, "estimate"),
        )
        for role, rows in sorted(by_role.items())
    )


def _sum(rows: Iterable[Mapping[str, Any]], key: str) -> float | None:
    """Return the sum of a field; None if no row has a number in it."""
    found = [row[key] for row in rows if isinstance(row.get(key), int | float)]
    return math.fsum(found) if found else None


def _meets(stretch: tuple[float, float | None], since: float, end: float) -> bool:
    return stretch[0] < end and (stretch[1] is None or stretch[1] >= since)


def _within(stretches: Iterable[tuple[float, float | None]], since: float, end: float) -> float:
    """Return how many seconds of these lie in a period."""
    return math.fsum(
        max(min(end if until is None else until, end) - max(begin, since), 0.0) for begin, until in stretches
    )


def _rank(ordered: Sequence[float], share: float) -> float:
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]
