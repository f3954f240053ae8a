"""Work that was handed on, of any plan family, in one form: from the archive and from tasks' journals. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from orchestrator.model.coordination import HandoffStatus, IssueSeverity, PipelineRole, Transition
from orchestrator.records.handoff_facts import HandoffFact
from orchestrator.reporting.build import report_of
from orchestrator.reporting.history import History
from orchestrator.reporting.room import clean
from orchestrator.reporting.task_report import Attempt, SpanKind, TaskReport

END: Final = "end"
"""The target of what nobody went on with."""

_SEEN_LATE: Final = 1.0
"""Seconds by which the moment of a journal line may lie behind that of the line before it."""

_GOOD: Final = frozenset({"passed", "passed, then checked again", "rejected the work"})


@dataclass(frozen=True, slots=True)
class Passage:
    """One thing that was handed on. Moments are seconds since the epoch, `seconds` is how long its source took.

    `seconds` is None where nobody knows when its source began, `good` while nothing was decided. `waits`: its receiver
    has not taken it. `open`: it is not done with. An attempt that has not ended is not `handed` on yet: it is at work
    since `at`.
    """

    task: str
    id: str
    source: str
    target: str
    at: float
    seconds: float | None
    good: bool | None
    rework: bool
    replans: bool = False
    open: bool = False
    waits: bool = False
    handed: bool = True


@dataclass(frozen=True, slots=True)
class IssueSeen:
    """An issue, where it first came up: `source` says at whom. `left`: the newest handoff of its task still has it."""

    task: str
    at: float
    source: PipelineRole
    severity: IssueSeverity
    description: str
    left: bool


@dataclass(frozen=True, slots=True)
class TaskTimes:
    """What a task's journal says beside what was handed on. Stretches of time are pairs; None has not ended."""

    id: str
    name: str
    passages: tuple[Passage, ...]
    began: float | None
    ended: float | None
    complete: bool
    questions: tuple[tuple[float, float | None], ...]
    idle: tuple[tuple[float, float | None], ...]
    resting: tuple[tuple[float, float | None], ...]
    used_by: tuple[Mapping[str, Any], ...]


def of_roles(
    handoffs: Iterable[HandoffFact], began: Mapping[str, float], resting: Collection[str] = ()
) -> Iterator[Passage]:
    """Yield the handoffs of an archive, task by task.

    Args:
        handoffs: In order of time.
        began: When the tasks began that have a chain.
        resting: Tasks at which nobody is any more: nothing in them is open.

    """
    for task, found in groupby(sorted(handoffs, key=lambda each: each.task), key=lambda each: each.task):
        chain = list(found)
        last: float | None = began.get(task)
        for before, each, after in zip([None, *chain[:-1]], chain, [*chain[1:], None], strict=True):
            known = (
                last is not None and last < each.at
            )  # a chain without a beginning begins with its first handoff
            is_open = (
                after is None
                and task not in resting
                and each.transition is not Transition.COMPLETE
                and each.status in {HandoffStatus.PENDING, HandoffStatus.ACCEPTED}
            )
            yield Passage(
                task,
                each.id,
                each.source,
                each.target,
                each.at,
                each.at - last if known and last is not None else None,
                _went_well(each, after),
                rework=each.transition is Transition.REPLAN or _is_again(each, before),
                replans=each.transition is Transition.REPLAN,
                open=is_open,
                waits=is_open and each.status is HandoffStatus.PENDING,
            )
            last = each.at


def issues_of(handoffs: Iterable[HandoffFact]) -> Iterator[IssueSeen]:
    """Yield each issue of an archive once, at the handoff that first has it. Handoffs are in order of time.

    Whoever rejects a handoff adds what is wrong to it: such issues are the receiver's.
    """
    ordered = list(handoffs)
    newest = {each.task: set(each.issues) for each in ordered}
    seen = set[tuple[str, IssueSeverity, str]]()
    for each in ordered:
        by = each.target if each.status is HandoffStatus.REJECTED else each.source
        for severity, description in each.issues:
            if (key := (each.task, severity, description)) not in seen:
                seen.add(key)
                left = (severity, description) in newest[each.task]
                yield IssueSeen(each.task, each.at, by, severity, description, left)


def of_task(view: Mapping[str, Any], history: History, now: float) -> TaskTimes:
    """Return what a task's state and its journal, taken whole, say at a moment (seconds since the epoch)."""
    return of_report(report_of(view, history, made_at=now))


def of_report(report: TaskReport) -> TaskTimes:
    """Return the same by a task's report."""
    view = report.view
    spans = [(lane.name, span) for lane in report.lanes for span in lane.spans]
    return TaskTimes(
        report.id,
        report.name,
        tuple(_passages(report)),
        report.began,
        report.ended,
        view.get("state") == "complete",
        tuple((each.asked_at, each.answered_at) for each in report.questions),
        tuple((span.since, span.until) for name, span in spans if name == "nobody at work"),
        tuple((span.since, span.until) for _, span in spans if span.kind is SpanKind.STOPPED),
        tuple(each for each in view.get("used_by") or () if isinstance(each, Mapping)),
    )


def _is_again(handoff: HandoffFact, before: HandoffFact | None) -> bool:
    """Return whether a handoff takes the place of the one before it, which was rejected."""
    way = handoff.source, handoff.target
    return (
        before is not None
        and before.status is HandoffStatus.REJECTED
        and (before.source, before.target) == way
    )


def _went_well(handoff: HandoffFact, after: HandoffFact | None) -> bool | None:
    """Return whether a handoff was of use: not rejected, and its receiver did not have the work planned again."""
    if handoff.status is HandoffStatus.REJECTED:
        return False
    if after is not None:
        return not (after.transition is Transition.REPLAN and after.source is handoff.target)
    if handoff.status is HandoffStatus.COMPLETED or handoff.transition is Transition.COMPLETE:
        return True
    return None


def _passages(report: TaskReport) -> Iterator[Passage]:
    tried = sorted(
        ((step.agent or step.id, step.id, each) for step in report.steps for each in step.attempts),
        key=lambda found: (found[2].began or 0.0, found[1], found[2].number),
    )
    for agent, step, attempt in tried:
        if attempt.began is not None:
            target = _next(attempt, tried) if attempt.ended is not None else ""
            ended = attempt.ended
            yield Passage(
                report.name,
                f"{step}, attempt {attempt.number}",
                agent,
                target or END,
                ended if ended is not None else attempt.began,
                None if ended is None else ended - attempt.began,
                None if ended is None else attempt.outcome in _GOOD,
                rework=attempt.number > 1,
                open=ended is None and report.ended is None,
                handed=ended is not None,
            )


def _next(attempt: Attempt, tried: list[tuple[str, str, Attempt]]) -> str:
    """Return the agent that began next once an attempt had ended; empty if none did."""
    ended = attempt.ended or 0.0
    others = [(agent, each) for agent, _, each in tried if each is not attempt and each.began is not None]
    later = [agent for agent, each in others if (each.began or 0.0) >= ended]
    # Where nobody has: moments of facts are those at which they were seen, and may lie behind those of later lines.
    later = later or [
        agent
        for agent, each in others
        if each.line > attempt.line and (each.began or 0.0) >= max(ended - _SEEN_LATE, attempt.began or 0.0)
    ]
    return clean(later[0], 80) if later else ""
