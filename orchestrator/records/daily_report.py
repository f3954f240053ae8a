"""The observer's report as Markdown, in the form of the document (C7), and its further figures as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from orchestrator.formats.amounts import cost_said, span_said, tokens_said
from orchestrator.formats.redact import redacted
from orchestrator.formats.text import cut, one_line
from orchestrator.model.coordination import ROUTES, IssueSeverity, PipelineRole, Transition, iso
from orchestrator.records.advice import recommendations
from orchestrator.records.observed_sources import Reading
from orchestrator.records.observer import DAY, Durations, Observation, Use, days, share

_REASON: Final = 80
_MINUTE: Final = 60.0
_ORDER: Final = [
    (source, target)
    for transition in Transition
    for sources, target in (ROUTES[transition],)
    for source in sorted(sources)
]
"""The transitions in the order of the document's report."""


def report(found: Observation, reading: Reading | None = None) -> str:
    """Return the report of a period, in the document's four sections; with what was read, further ones follow."""
    last = iso(found.until - 1)[:10]
    first = iso(found.since)[:10]
    lines = [f"# Handoff Pipeline Report - {first if first == last else f'{first} to {last}'}"]
    sections: list[tuple[str, Sequence[str]]] = [
        ("Summary", list(_summary(found))),
        ("Performance", list(_performance(found))),
        ("Issues", list(_issues(found))),
        ("Recommendations", _recommended(found)),
    ]
    if reading is not None:
        sections += [
            ("Transitions", list(_transitions(found))),
            ("Severities", list(_severities(found))),
            ("Questions and time", list(_waits(found))),
            ("Tokens and cost by role", list(_uses(found.uses))),
            ("Stuck", list(_stuck(found)) or ["- nothing"]),
            ("Read", list(_read(reading))),
        ]
    for title, section in sections:
        lines += ["", f"## {title}", *section]
    return "\n".join(lines) + "\n"


def _summary(found: Observation) -> Iterator[str]:
    yield f"- Total handoffs: {len(found.passages)}"
    yield f"- Completed chains: {found.completed}"
    yield f"- Active handoffs: {found.active}"
    yield f"- Stuck handoffs: {len(found.stuck)}"


def _performance(found: Observation) -> Iterator[str]:
    rank: dict[tuple[str, str], int] = {way: number for number, way in enumerate(_ORDER)}
    timed = [each for each in found.routes if each.seconds.mean is not None]
    for each in sorted(timed, key=lambda route: rank.get((route.source, route.target), len(rank))):
        yield f"- Avg {_shown(each.source)}→{_shown(each.target)}: {_minutes(each.seconds.mean or 0.0)}"
    if not timed:
        yield "- Nothing was timed"


def _issues(found: Observation) -> Iterator[str]:
    replanned = {(each.task, each.at) for each in found.passages if each.replans}
    reason = next((each for each in found.issues if (each.task, each.at) in replanned), None)
    why = f" ({_shown(reason.description)})" if reason else ""
    yield f"- {_count(found.replanned, 'requires_replanning event')}{why}"
    audit = [
        each
        for each in found.issues
        if each.severity is IssueSeverity.HIGH and each.source is PipelineRole.AUDITOR
    ]
    left = sum(each.left for each in audit)
    state = f" ({'resolved' if not left else f'{left} open'})" if audit else ""
    yield f"- {_count(len(audit), 'high-severity issue')} in audit{state}"
    yield f"- {_count(found.blockers, 'critical blocker')}"


def _recommended(found: Observation) -> list[str]:
    return [f"- {_shown(each.text, 400)}" for each in recommendations(found)] or [
        "- None: no figure is out of the ordinary"
    ]


# Further figures ----------------------------------------------------------------------------------


def _transitions(found: Observation) -> Iterator[str]:
    for each in found.routes:
        success = f"{each.good} of {each.decided} of use" if each.decided else "none decided"
        slow = "; BOTTLENECK" if each.slow else ""
        yield f"- {_shown(each.source)}→{_shown(each.target)}: {each.count}; {success}{slow}"
        if each.seconds.count:
            yield f"  {_spread(each.seconds)}"
    if not found.routes:
        yield "- nothing was handed on"
    yield f"- Success rate: {share(found.good, found.decided)}"
    yield f"- Rework rate: {share(found.reworked, len(found.passages))}"


def _severities(found: Observation) -> Iterator[str]:
    for day, counts in days(found):
        yield f"- {day}: " + ", ".join(f"{counts[each]} {each}" for each in IssueSeverity)
    before = ", ".join(f"{found.issues_before.get(each, 0)} {each}" for each in IssueSeverity)
    yield f"- the {_count(round((found.until - found.since) / DAY), 'day')} before: {before}"


def _waits(found: Observation) -> Iterator[str]:
    yield f"- Questions answered: {found.waits.count}"
    if found.waits.count:
        yield f"  {_spread(found.waits)}"
    longest = f", the longest for {span_said(found.open_waits[0])}" if found.open_waits else ""
    yield f"- Questions open: {len(found.open_waits)}{longest}"
    yield f"- Dead time: {span_said(found.dead)} of {span_said(found.at_work)} at work"


def _uses(uses: Sequence[Use]) -> Iterator[str]:
    for each in uses:
        tokens = "tokens unknown" if each.tokens is None else f"{tokens_said(each.tokens)} tokens"
        cost = "cost unknown"
        if each.cost is not None or each.estimate is not None:
            cost = cost_said(each.cost, each.estimate)
        runs = _count(each.runs, "run")
        yield f"- {_shown(each.role)}: {runs}, {span_said(each.seconds)}, {tokens}, {cost}"
    yield "- nothing is known" if not uses else "  (of all the time of the tasks that were at work)"


def _stuck(found: Observation) -> Iterator[str]:
    for each in found.stuck:
        waits = span_said(min(found.until, found.made_at) - each.at)
        yield f"- {_shown(each.task)}: {_shown(each.id)} ({_shown(each.source)}), for {waits}"


def _read(reading: Reading) -> Iterator[str]:
    yield f"- archives of handoffs, from {reading.since} on"
    for each in reading.sources:
        yield f"- {one_line(str(each.path))}: {each.said}"
    yield f"- {_count(len(reading.unread), 'file')} could not be read" + (
        ", and is not counted"
        if len(reading.unread) == 1
        else ", and are not counted"
        if reading.unread
        else ""
    )


# Words --------------------------------------------------------------------------------------------


def _spread(took: Durations) -> str:
    return (
        f"{took.count} timed: avg {_minutes(took.mean or 0.0)}, median {_minutes(took.median or 0.0)}, "
        f"p90 {_minutes(took.p90 or 0.0)}, longest {_minutes(took.longest or 0.0)}"
    )


def _minutes(seconds: float) -> str:
    return "<1 min" if 0 < seconds < _MINUTE else f"{seconds / _MINUTE:.0f} min"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _shown(text: str, limit: int = _REASON) -> str:
    return cut(redacted(one_line(text)), limit)
