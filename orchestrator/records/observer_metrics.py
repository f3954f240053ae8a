"""The observer's figures as metrics; `prometheus_text` writes them.

All are gauges: they are those of a period, which moves, so they do not only grow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.model.coordination import IssueSeverity
from orchestrator.records.observed_sources import Reading
from orchestrator.records.observer import Durations, Observation
from orchestrator.reporting.room import clean

MOST: Final = 200
"""Series of a metric at most: agents may have any number of names, and each is a series that a server keeps."""

PREFIX: Final = "agent_orchestrator_"
_LABEL: Final = 80

ROUTE: Final = ("source", "target")
ROLE: Final = ("role",)

Labels = tuple[str, ...]
"""Values of labels, in the order of their names."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its samples. A sample without a value is not known, and left out."""

    name: str
    help: str
    labels: tuple[str, ...]
    samples: Sequence[tuple[Labels, float | None]]


def metrics_of(found: Observation, reading: Reading) -> list[Metric]:
    """Return the figures of a period as metrics, also those of which nothing is known."""
    return [
        *_period(found),
        *_counts(found),
        *_transitions(found),
        *_time(found),
        *_uses(found),
        *_read(reading),
    ]


def _period(found: Observation) -> Iterator[Metric]:
    yield _one("period_start_timestamp_seconds", "Beginning of the period.", found.since)
    yield _one("period_end_timestamp_seconds", "End of the period, which does not belong to it.", found.until)
    yield _one("observed_timestamp_seconds", "When these figures were made.", found.made_at)


def _counts(found: Observation) -> Iterator[Metric]:
    yield _one("handoffs", "What was handed on in the period.", len(found.passages))
    yield _one("handoffs_decided", "Of how many it is known whether they were of use.", found.decided)
    yield _one("handoffs_good", "How many of these were of use.", found.good)
    yield _one("handoffs_reworked", "Plans that did not hold, second and later attempts.", found.reworked)
    yield _one("handoffs_replanned", "Handoffs that asked for another plan.", found.replanned)
    yield _one("completed", "Chains and tasks that were completed in the period.", found.completed)
    yield _one("active", "What was handed on and is not done with, and attempts at work.", found.active)
    yield _one("stuck", "What waits for more than 24 hours.", len(found.stuck))
    yield Metric(
        "issues",
        "Issues that first came up in the period.",
        ("severity",),
        [((each.value,), sum(issue.severity is each for issue in found.issues)) for each in IssueSeverity],
    )
    yield _one(
        "critical_issues_open",
        "Critical issues that the newest handoff of their task still has.",
        found.blockers,
    )


def _transitions(found: Observation) -> Iterator[Metric]:
    routes = [((clean(each.source, _LABEL), clean(each.target, _LABEL)), each) for each in found.routes]
    for name, words, figure in (
        ("handoffs", "What went from one role to another.", "count"),
        ("decided", "Of how many of these it is known whether they were of use.", "decided"),
        ("good", "How many of these were of use.", "good"),
        ("bottleneck", "1 if the median is more than twice that of all.", "slow"),
    ):
        yield Metric(
            f"transition_{name}", words, ROUTE, [(way, float(getattr(each, figure))) for way, each in routes]
        )
    taken = [(way, each.seconds) for way, each in routes]
    yield from _durations("transition_duration", "How long the source took", ROUTE, taken)
    left = max(len(routes) - MOST, 0)
    yield _one("transitions_left_out", "Transitions that have no series here.", left)


def _time(found: Observation) -> Iterator[Metric]:
    yield _one("questions_answered", "Questions that were answered.", found.waits.count)
    yield _one("questions_open", "Questions that wait.", len(found.open_waits))
    yield from _durations("question_wait", "How long answers took", (), [((), found.waits)])
    yield _one(
        "question_longest_open_seconds",
        "How long the first open question waits.",
        found.open_waits[0] if found.open_waits else 0.0,
    )
    yield _one("dead_time_seconds", "Time in which a task was at work and no program ran.", found.dead)
    yield _one("time_at_work_seconds", "Time in which tasks were at work.", found.at_work)


def _uses(found: Observation) -> Iterator[Metric]:
    uses = [((clean(each.role, _LABEL),), each) for each in found.uses]
    about = "of the tasks at work in the period, over all their time"
    for name, words, figure in (
        ("runs", "Runs of a role", "runs"),
        ("run_seconds", "How long these took", "seconds"),
        ("tokens", "Tokens that programs reported", "tokens"),
        ("cost_dollars", "US dollars that programs reported", "cost"),
        ("estimated_cost_dollars", "US dollars that were estimated beside", "estimate"),
    ):
        yield Metric(
            f"role_{name}", f"{words}, {about}.", ROLE, [(role, getattr(each, figure)) for role, each in uses]
        )
    yield _one("roles_left_out", "Roles that have no series here.", max(len(uses) - MOST, 0))


def _read(reading: Reading) -> Iterator[Metric]:
    yield _one("handoffs_read", "Handoffs that were read.", sum(each.handoffs for each in reading.sources))
    yield _one("tasks_read", "Journals of tasks that were read.", sum(each.tasks for each in reading.sources))
    yield _one("files_unread", "Files that could not be read, and are not counted.", len(reading.unread))


# Their making ---------------------------------------------------------------------------------------------


def _one(name: str, words: str, value: float | None) -> Metric:
    return Metric(name, words, (), [((), value)])


def _durations(
    name: str, words: str, labels: tuple[str, ...], found: Sequence[tuple[Labels, Durations]]
) -> Iterator[Metric]:
    """Yield a metric for each figure of how long something took."""
    count = [(key, each.count) for key, each in found]
    yield Metric(f"{name}_timed", f"{words}: how many were timed.", labels, count)
    for figure, said in (
        ("mean", "their mean"),
        ("median", "their median"),
        ("p90", "nine in ten took no longer"),
        ("longest", "the longest"),
    ):
        seconds = [(key, getattr(each, figure)) for key, each in found]
        yield Metric(f"{name}_{figure}_seconds", f"{words}: {said}.", labels, seconds)
