"""Holds the observer's figures of a task of roles against the raw lines of its journal, counted by another way.

It reads neither the archive, nor the state, nor anything that the observer is made of: who handed on to whom and when,
what became of it, which runs lived how long and what they used stands in the journal's changes.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

SHORT: Final = 30.0
"""Seconds without any program that are no dead time: the documentation says the same."""

CLOSE: Final = 1e-3
"""Seconds by which two sums of the same times may differ."""

SEVERITIES: Final = ("critical", "high", "medium", "low")

Document = Mapping[str, Any]


@dataclass
class Handed:
    """One handoff, as it was handed on, and how it stands in the end. `at` is in whole seconds, as its file has it."""

    source: str
    target: str
    kind: str
    at: int
    status: str = ""
    issues: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Counted:
    """What the lines of one task's journal say."""

    began: float = 0.0
    ended: float | None = None
    handed: dict[str, Handed] = field(default_factory=dict)
    opened: dict[str, tuple[str, float]] = field(default_factory=dict)
    """The agent of each run, and when it was opened; of a command of the daemon no agent."""

    started: dict[str, float] = field(default_factory=dict)
    gone: dict[str, float] = field(default_factory=dict)
    metered: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    asked: int = 0


def counted(lines: Iterable[Document]) -> Counted:
    """Count what the lines of a journal say, oldest first."""
    found = Counted()
    for line in lines:
        fact, at = line["fact"], float(line["at"])
        match fact["kind"]:
            case "task_started":
                found.began = at
            case "run_started":
                found.started.setdefault(fact["run"], at)
            case "run_gone":
                found.gone.setdefault(fact["run"], at)
            case _:
                pass
        for change in line["changes"]:
            _take(found, change, at)
    return found


def _take(found: Counted, change: Document, at: float) -> None:
    match change["kind"]:
        case "handoff_recorded":
            whole = change["record"]["handoff"]
            head = whole["head"]
            handed = found.handed.setdefault(
                change["id"], Handed(head["source"], head["target"], head["transition"], int(at))
            )
            handed.status = head["status"]
            handed.issues = [(each["severity"], each["description"]) for each in whole.get("issues") or ()]
        case "run_opened":
            found.opened[change["run"]["id"]] = (_agent(change["run"]), at)
        case "run_metered":
            found.metered[change["run"]] = change["usage"]
        case "question_asked":
            found.asked += 1
        case "task_moved" if change["to"] not in {"running", "waiting"}:
            found.ended = at
        case _:
            pass


def _agent(run: Document) -> str:
    return str(run["agent"]) if run.get("purpose", "work") == "work" else ""


def faults(lines: Iterable[Document], document: Document) -> list[str]:
    """Return which figures of `task observe --json` about the only task of a project are not those of its journal."""
    found = counted(lines)
    wanted = dict(_wanted(found))
    return [
        f"{name}: the journal says {value!r}, the report {document[name]!r}"
        for name, value in wanted.items()
        if not _same(value, document[name])
    ]


def _wanted(found: Counted) -> Iterator[tuple[str, Any]]:
    """Yield each figure of the document by its name."""
    chain = list(found.handed.values())
    verdicts = list(_verdicts(chain))
    took = list(_took(chain, int(found.began)))
    replans = sum(each.kind == "requires_replanning" for each in chain)
    yield "handoffs", len(chain)
    yield "completed_chains", int(any(each.kind == "complete" for each in chain))
    yield "active", 0
    yield "stuck", []
    yield "success", {"decided": len(verdicts), "good": sum(verdicts)}
    again = replans + sum(
        each.kind != "requires_replanning"
        and before.status == "rejected"
        and (before.source, before.target) == (each.source, each.target)
        for before, each in pairwise(chain)
    )
    yield "rework", {"handoffs": len(chain), "reworked": again, "replanned": replans}
    yield "durations", _spread(seconds for seconds in took if seconds is not None)
    yield "transitions", _transitions(chain, took, verdicts)
    yield "severities", _severities(chain)
    yield "critical_open", 0
    yield "questions", {"answered": _spread([]), "open": 0, "longest_open": None}
    yield "dead_time", _dead(found)
    yield "time_at_work", (found.ended or 0.0) - found.began
    yield "usage", _usage(found)


def _verdicts(chain: Sequence[Handed]) -> Iterator[bool]:
    """Yield of each handoff of a task that is over whether it was of use."""
    for each, after in zip(chain, [*chain[1:], None], strict=True):
        sent_back = after is not None and after.kind == "requires_replanning" and after.source == each.target
        yield each.status != "rejected" and not sent_back


def _took(chain: Sequence[Handed], began: int) -> Iterator[int | None]:
    """Yield how many seconds each took since the one before it; None where that is less than one, and so unknown."""
    for before, each in zip([began, *(each.at for each in chain)], chain, strict=False):
        yield each.at - before or None


def _transitions(
    chain: Sequence[Handed], took: Sequence[int | None], verdicts: Sequence[bool]
) -> list[dict[str, Any]]:
    whole = _spread(seconds for seconds in took if seconds is not None)["median"]
    rows = defaultdict[tuple[str, str], list[tuple[int | None, bool]]](list)
    for each, seconds, good in zip(chain, took, verdicts, strict=True):
        rows[each.source, each.target].append((seconds, good))
    made = []
    for (source, target), row in rows.items():
        spread = _spread(seconds for seconds, _ in row if seconds is not None)
        slow = spread["count"] >= 2 and spread["median"] > 2 * whole
        made.append(
            {
                "source": source,
                "target": target,
                "count": len(row),
                "durations": spread,
                "decided": len(row),
                "good": sum(good for _, good in row),
                "bottleneck": slow,
            }
        )
    return sorted(made, key=lambda each: (-each["count"], each["source"], each["target"]))


def _severities(chain: Sequence[Handed]) -> list[dict[str, Any]]:
    """Return how many issues first came up on each day: the same words at the same severity are one."""
    first = dict[tuple[str, str], int]()
    for each in chain:
        for issue in each.issues:
            first.setdefault(issue, each.at)
    days = defaultdict[str, Counter[str]](Counter)
    for (severity, _), at in first.items():
        days[f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"][severity] += 1
    return [{"day": day, **{each: days[day][each] for each in SEVERITIES}} for day in sorted(days)]


def _dead(found: Counted) -> float:
    """Return the seconds in which no program of the task lived, where these were thirty or more in a row."""
    lived = sorted((at, found.gone.get(run, found.ended or at)) for run, (_, at) in found.opened.items())
    dead, edge = 0.0, found.began
    for begin, end in [*lived, (found.ended or edge, found.ended or edge)]:
        dead += begin - edge if begin - edge >= SHORT else 0.0
        edge = max(edge, end)
    return dead


def _usage(found: Counted) -> list[dict[str, Any]]:
    """Return what each role used. A run's time is that from its first sign of life until it was gone."""
    runs = defaultdict[str, list[str]](list)
    for run, (agent, _) in found.opened.items():
        runs[agent].append(run)
    return [
        {
            "role": agent,
            "runs": len(own),
            "time": sum(found.gone[run] - found.started[run] for run in own if run in found.gone),
            "tokens": _sum(each.get("input", 0) + each.get("output", 0) for each in _metered(found, own)),
            "cost": _sum(each.get("cost") for each in _metered(found, own)),
        }
        for agent, own in sorted(runs.items())
        if agent
    ]


def _metered(found: Counted, runs: Iterable[str]) -> Iterator[Document]:
    """Yield what the programs of runs reported that they used."""
    return (found.metered[run] for run in runs if run in found.metered)


def _sum(values: Iterable[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return math.fsum(known) if known else None


def _spread(seconds: Iterable[float]) -> dict[str, Any]:
    ordered = sorted(seconds)
    if not ordered:
        return {"count": 0, "mean": None, "median": None, "p90": None, "longest": None}
    ranks = {
        name: ordered[math.ceil(share * len(ordered)) - 1] for name, share in (("median", 0.5), ("p90", 0.9))
    }
    return {"count": len(ordered), "mean": sum(ordered) / len(ordered), **ranks, "longest": ordered[-1]}


def _same(wanted: Any, said: Any) -> bool:
    """Return whether a figure is the wanted one. What the document has beyond the wanted fields is not looked at."""
    match wanted:
        case dict():
            return isinstance(said, Mapping) and all(
                _same(value, said.get(key)) for key, value in wanted.items()
            )
        case list():
            return len(wanted) == len(said) and all(map(_same, wanted, said))
        case float():
            return isinstance(said, int | float) and math.isclose(wanted, said, abs_tol=CLOSE)
        case _:
            return bool(wanted == said)
