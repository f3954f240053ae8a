"""What the figures of a period recommend (C7). Each sentence names the figures that it comes from. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from orchestrator.formats.amounts import span_said
from orchestrator.model.coordination import GRAVE, PipelineRole
from orchestrator.records.observer import Observation, Route

REPLANNED: Final = 0.1
"""From this share of handoffs on, work that is planned again is spoken of."""

WELL: Final = 0.8
"""Below this share of success a transition is spoken of."""

ENOUGH: Final = 3
"""How many must have been decided before a share of them says anything."""

DEAD: Final = 0.2
"""From this share of the time at work on, dead time is spoken of."""

ANSWER: Final = 3600.0
"""Seconds: questions that wait longer on average are spoken of."""

QUICK: Final = 1800.0
"""Seconds: a turnaround below this is praised, as the document has it."""

AUTOMATIC: Final = 900.0
"""Seconds: a transition that never fails and is faster than this may need no agent."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A sentence, and the figures that it comes from by name. Times are in seconds."""

    text: str
    figures: Mapping[str, float]


def recommendations(found: Observation) -> list[Recommendation]:
    """Return what the figures recommend, what waits first; empty if none of them is out of the ordinary."""
    return [*_waiting(found), *_replanning(found), *_per_route(found), *_time(found), *_severities(found)]


def _waiting(found: Observation) -> Iterator[Recommendation]:
    if count := len(found.stuck):
        longest = max(min(found.until, found.made_at) - each.at for each in found.stuck)
        yield Recommendation(
            f"Look at what is stuck ({count} for more than 24 h, the longest {span_said(longest)})",
            {"stuck": count, "longest": longest},
        )
    if found.open_waits and found.open_waits[0] > ANSWER:
        count, longest = len(found.open_waits), found.open_waits[0]
        yield Recommendation(
            f"Answer what is asked ({count} open, the longest for {span_said(longest)})",
            {"open": count, "longest": longest},
        )
    if found.waits.mean is not None and found.waits.mean > ANSWER:
        yield Recommendation(
            f"Answers could come sooner ({found.waits.count} answered, after {span_said(found.waits.mean)} avg)",
            {"answered": found.waits.count, "mean": found.waits.mean},
        )


def _replanning(found: Observation) -> Iterator[Recommendation]:
    count, whole = found.replanned, len(found.passages)
    if whole and count / whole >= REPLANNED:
        by = Counter(each.source for each in found.passages if each.replans).most_common(1)[0][0]
        yield Recommendation(
            f"{by} could benefit from more detailed plans (reduce replanning: {count} of {whole} handoffs)",
            {"replanned": count, "handoffs": whole},
        )


def _per_route(found: Observation) -> Iterator[Recommendation]:
    for each in found.routes:
        way = f"{each.source}→{each.target}"
        if each.slow and each.seconds.median and found.overall.median:
            yield Recommendation(
                f"{way} is a bottleneck ({span_said(each.seconds.median)} median of {each.seconds.count}, "
                f"{span_said(found.overall.median)} over all)",
                {
                    "median": each.seconds.median,
                    "timed": each.seconds.count,
                    "overall_median": found.overall.median,
                },
            )
        if each.decided >= ENOUGH and each.good / each.decided < WELL:
            yield Recommendation(
                f"{way} fails often ({each.decided - each.good} of {each.decided} were not of use)",
                {"failed": each.decided - each.good, "decided": each.decided},
            )
        yield from _praise(each, way)


def _praise(route: Route, way: str) -> Iterator[Recommendation]:
    mean, sure = route.seconds.mean, route.decided >= ENOUGH and route.good == route.decided
    if mean is None or not sure or not mean < QUICK:
        return
    figures = {"mean": mean, "good": route.good, "decided": route.decided}
    passed = f"{span_said(mean)} avg, {route.good} of {route.decided} passed"
    if route.target == PipelineRole.ORCHESTRATOR and mean < AUTOMATIC:
        yield Recommendation(f"Consider automating {way} transition ({passed})", figures)
    elif route.source == PipelineRole.AUDITOR:
        yield Recommendation(f"AUDITOR turnaround excellent (<30min avg: {passed})", figures)


def _time(found: Observation) -> Iterator[Recommendation]:
    if found.at_work and found.dead / found.at_work >= DEAD:
        yield Recommendation(
            f"Find out why nobody worked ({span_said(found.dead)} of {span_said(found.at_work)} were dead time)",
            {"dead": found.dead, "at_work": found.at_work},
        )


def _severities(found: Observation) -> Iterator[Recommendation]:
    now = sum(each.severity in GRAVE for each in found.issues)
    before = sum(found.issues_before.get(each, 0) for each in GRAVE)
    if now > before:
        yield Recommendation(
            f"Grave issues become more ({now} critical or high, {before} in as long a time before)",
            {"grave": now, "before": before},
        )
