"""When somebody worked on a task, by the service's log and the processes alone; and when nobody did who could have.

Time is *worked* while a run's program starts, the service answers it, a tool runs, or a check of the PM's. It is
*forced* while the service refuses whoever's turn it is, a person is waited for whom the night needs, or an outage lasts
that the night brought about. What is neither is dead.

Starting and ending programs, commits and worktrees take real time, which nothing compresses: an ordinary change from
one run to the next in the same night says how much, and twice that is taken off each dead span. What a CLI waits by its
own clock between its own tries is not compressed either, nor is the wall's clock, by which a limit ends and around
which it is tried again: such time counts as long as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from tests.nights.judging.intervals import Span, length, merged, without
from tests.nights.observation import Life, Observation, Outcome, Request, TaskSeen

STARTS: Final = 60.0
"""Real seconds that a CLI may take from its process to its first request; or three times as usual."""
TOOL: Final = 20.0
"""Real seconds that a tool call may take: no script of a night runs a longer one."""
EDGE: Final = 0.5
LEAST: Final = 2.0
"""Real seconds that a change from one run to the next may take at least."""


@dataclass(frozen=True, slots=True)
class Dead:
    """A dead span: real times, how long it counts in seconds of the night, and what stood still."""

    begin: float
    end: float
    counts: float
    why: str


def requests_of(seen: Observation, run: str) -> list[Request]:
    """Return the requests of a run's turns, in order."""
    return sorted((each for each in seen.requests if each.main and each.run == run), key=lambda each: each.at)


def runs_of(seen: Observation, task: str) -> list[str]:
    """Return the runs of a task that the service heard of."""
    return [order.run for order in seen.orders if order.task == task]


def dead_time(seen: Observation, task: TaskSeen) -> list[Dead]:
    """Return the dead spans of a task, from its start to its end, or to the morning where it did not end."""
    until = task.ended or seen.ended
    whole: list[Span] = [(task.began, until)]
    worked, own = _worked(seen, task)
    left = without(without(whole, worked), _forced(seen, task))
    allowed = _change(seen, task)
    found = []
    for begin, end in left:
        waited = length(without([(begin, end)], without([(begin, end)], own)))
        rest = max(0.0, end - begin - waited - allowed)
        counts = waited + rest * (1.0 if _after_a_limit(seen, begin) else seen.factor)
        if counts > 0:
            found.append(Dead(begin, end, counts, _why(seen, task, begin, end)))
    if task.ended is None and seen.morning > seen.ended:
        found += [
            Dead(begin, end, (end - begin) * seen.factor, "stood still until morning")
            for begin, end in without([(seen.ended, seen.morning)], _forced(seen, task))
        ]
    return found


def _after_a_limit(seen: Observation, begin: float) -> bool:
    """Say whether a span begins as a limit ends, or as the machine wakes after that: it goes by the wall's clock."""
    edges = [each.until for each in seen.windows if each.kind == "limit"]
    outages = [each for each in seen.happenings if each.outage]
    edges += [each.until for each in outages if any(each.at <= edge <= each.until for edge in edges)]
    return any(abs(edge - begin) < EDGE for edge in edges)


def _lives(seen: Observation, run: str) -> list[Life]:
    return [life for life in seen.lives if life.run == run and life.first]


def _checks(seen: Observation) -> list[Span]:
    """Return when commands of the PM's own ran: runs of which no agent's CLI is known."""
    agents = {order.run for order in seen.orders}
    starting = {life.run for life in seen.lives if life.first}
    return [(life.begun, life.last) for life in seen.lives if life.run not in agents | starting]


def _worked(seen: Observation, task: TaskSeen) -> tuple[list[Span], list[Span]]:
    """Return when somebody worked, and when a CLI waited by its own clock between its tries."""
    worked, own, starts = list(_checks(seen)), list[Span](), _starts(seen)
    for run in runs_of(seen, task.name):
        asked, lives = requests_of(seen, run), _lives(seen, run)
        for life in lives:
            first = next((each.at for each in asked if each.at >= life.begun), life.last)
            worked.append((life.begun, min(first, life.begun + starts)))
        for request, after in [*pairwise(asked), (asked[-1], None)] if asked else ():
            ended = request.ended or seen.ended
            alive = max((life.last for life in lives if life.begun <= request.at), default=ended)
            if request.outcome is Outcome.ANSWERED:
                worked.append((request.at, ended))
                if request.call:
                    worked.append((ended, min(after.at if after else alive, ended + TOOL)))
            elif request.outcome in {Outcome.REFUSED, Outcome.CUT} and after:
                own.append((request.at, after.at))
    return merged(worked), merged(own)


def _starts(seen: Observation) -> float:
    """Return how long a CLI may start in this night."""
    spans = [
        asked[0].at - life.begun
        for order in seen.orders
        for life in _lives(seen, order.run)[:1]
        if (asked := requests_of(seen, order.run)) and asked[0].at >= life.begun
    ]
    return max(STARTS, 3 * median(spans)) if spans else STARTS


def _forced(seen: Observation, task: TaskSeen) -> list[Span]:
    """Return when nobody could have worked on a task: refused, asleep, or waiting for a person whom the night needs."""
    forced = [(each.at, each.until) for each in seen.happenings if each.outage]
    forced += [
        (key.at, key.answered or seen.ended) for key in seen.keys if key.planned and key.task == task.name
    ]
    mine = sorted(
        (each for run in runs_of(seen, task.name) for each in requests_of(seen, run)),
        key=lambda each: each.at,
    )
    for window in seen.windows:
        # Only while it was this vendor's turn: from a refusal of the task's own until others went on.
        refused = [
            each for each in mine if each.vendor == window.vendor and window.since <= each.at < window.until
        ]
        if refused:
            begin = next((each.at for each in refused if each.outcome is Outcome.REFUSED), window.until)
            forced.append((begin, window.until))
    return merged(forced)


def _change(seen: Observation, task: TaskSeen) -> float:
    """Return twice the usual time from the last word of one run to the start of the next, where nothing went wrong."""
    spans = []
    runs = [(run, requests_of(seen, run), _lives(seen, run)) for run in runs_of(seen, task.name)]
    known = [(asked, lives) for _, asked, lives in runs if asked and lives]
    for (asked, _), (_, lives) in pairwise(known):
        last = asked[-1]
        if last.outcome is Outcome.ANSWERED and not last.call and last.ended:
            spans.append(lives[0].begun - last.ended)
    usual = [span for span in spans if span > 0]
    return max(LEAST, 2 * median(usual)) if usual else LEAST


def _why(seen: Observation, task: TaskSeen, begin: float, end: float) -> str:
    """Return what stood still in a span, as far as the log and the processes tell."""
    runs = runs_of(seen, task.name)
    hung = [
        each
        for run in runs
        for each in requests_of(seen, run)
        if each.outcome is Outcome.HUNG and each.at <= end
    ]
    alive = [
        life.run
        for run in runs
        for life in _lives(seen, run)
        if life.begun < end - 0.5 and life.last > begin + 0.5
    ]
    if hung and hung[-1].run in alive and hung[-1].at >= begin - 1:
        return f"{hung[-1].run} hung on a stream"
    if alive:
        return f"{alive[-1]} lived and asked nothing"
    return "nobody was at work"
