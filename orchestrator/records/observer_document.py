"""The observer's figures as JSON: `task observe --json`. Moments are RFC 3339 in UTC, times are seconds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestrator.formats.redact import redacted
from orchestrator.formats.text import cut, neutral
from orchestrator.formats.timestamps import rfc3339
from orchestrator.model.coordination import IssueSeverity
from orchestrator.records.advice import recommendations
from orchestrator.records.observed_sources import Reading, SourceRead
from orchestrator.records.observer import Durations, Observation, Route, Use, days
from orchestrator.records.passages import Passage

_TEXT = 400


def document_of(found: Observation, reading: Reading) -> dict[str, Any]:
    """Return the figures of a period, and what was read for them."""
    return {
        "since": rfc3339(found.since),
        "until": rfc3339(found.until),
        "made_at": rfc3339(found.made_at),
        "read_since": reading.since,
        "handoffs": len(found.passages),
        "completed_chains": found.completed,
        "active": found.active,
        "success": {"decided": found.decided, "good": found.good},
        "rework": {"handoffs": len(found.passages), "reworked": found.reworked, "replanned": found.replanned},
        "durations": _durations(found.overall),
        "transitions": [_transition(each) for each in found.routes],
        "stuck": [_stuck(each, min(found.until, found.made_at)) for each in found.stuck],
        "severities": [{"day": day, **_counts(counts)} for day, counts in days(found)],
        "severities_before": _counts(found.issues_before),
        "critical_open": found.blockers,
        "questions": {
            "answered": _durations(found.waits),
            "open": len(found.open_waits),
            "longest_open": found.open_waits[0] if found.open_waits else None,
        },
        "dead_time": found.dead,
        "time_at_work": found.at_work,
        "usage": [_use(each) for each in found.uses],
        "recommendations": [
            {"text": _shown(each.text), "figures": dict(each.figures)} for each in recommendations(found)
        ],
        "read": [_source(each) for each in reading.sources],
        "unread": [{"path": _path(each.path), "reason": _shown(each.reason)} for each in reading.unread],
    }


def _transition(route: Route) -> dict[str, Any]:
    return {
        "source": _shown(route.source),
        "target": _shown(route.target),
        "count": route.count,
        "durations": _durations(route.seconds),
        "decided": route.decided,
        "good": route.good,
        "bottleneck": route.slow,
    }


def _stuck(passage: Passage, end: float) -> dict[str, Any]:
    return {
        "task": _shown(passage.task),
        "id": _shown(passage.id),
        "source": _shown(passage.source),
        "at": rfc3339(passage.at),
        "waited": end - passage.at,
    }


def _use(use: Use) -> dict[str, Any]:
    return {
        "role": _shown(use.role),
        "runs": use.runs,
        "time": use.seconds,
        "tokens": use.tokens,
        "cost": use.cost,
        "estimate": use.estimate,
    }


def _source(source: SourceRead) -> dict[str, Any]:
    return {
        "kind": source.kind.value,
        "path": _path(source.path),
        "handoffs": source.handoffs,
        "tasks": source.tasks,
        "left_out": source.left_out,
    }


def _durations(took: Durations) -> dict[str, Any]:
    return {
        "count": took.count,
        "mean": took.mean,
        "median": took.median,
        "p90": took.p90,
        "longest": took.longest,
    }


def _counts(counts: Mapping[IssueSeverity, int]) -> dict[str, int]:
    return {each.value: counts.get(each, 0) for each in IssueSeverity}


def _shown(text: str) -> str:
    return cut(redacted(neutral(text)), _TEXT)


def _path(path: Path) -> str:
    return redacted(neutral(str(path)))
