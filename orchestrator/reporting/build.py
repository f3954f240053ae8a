"""Makes a task's report of its view, its journal and its commits: what waited, what can be trusted, what is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from orchestrator.formats.amounts import span_said
from orchestrator.model.evidence import BY_USER
from orchestrator.model.names import BASELINE
from orchestrator.reporting.history import History
from orchestrator.reporting.room import clean
from orchestrator.reporting.task_report import (
    Artifact,
    CheckStory,
    CommitSeen,
    Lane,
    Span,
    SpanKind,
    StepStory,
    TaskReport,
)

IDLE: Final = 30.0
"""Seconds: a shorter time without any program is how long the daemon takes, and no news."""

_WAITS: Final = 8
_CAUSES: Final = (SpanKind.LIMIT, SpanKind.QUESTION, SpanKind.BOX, SpanKind.STOPPED)
_LAST_LANES: Final = (
    "preparations",
    "checks",
    "usage limits",
    "questions",
    "boxes",
    "nobody at work",
    "stopped",
)


def report_of(
    view: Mapping[str, Any],
    history: History,
    *,
    made_at: float,
    commits: Sequence[CommitSeen] | None = (),
    where: Callable[[str], str] = lambda _: "",
    gaps: Sequence[str] = (),
) -> TaskReport:
    """Return the report of a task.

    Args:
        view: what `task status NAME --json` shows.
        history: the journal, taken whole.
        made_at: now, in seconds since the epoch.
        commits: those of the task's branch, oldest first; None if they could not be read.
        where: says where a file that a report named is now, as `Artifact` does.
        gaps: what could not be read, a sentence each.

    """
    history.close()
    ended = None if view.get("state") in {"running", "waiting"} else history.ended or history.last
    until = ended or made_at
    lanes = _lanes(history, until)
    return TaskReport(
        name=clean(view.get("task"), 200),
        id=clean(view.get("id"), 200),
        project=clean(view.get("project"), 1000),
        made_at=made_at,
        began=history.began,
        ended=ended,
        view=cleaned(view),
        lanes=lanes,
        steps=_steps(view, history),
        questions=tuple(history.questions.values()),
        checks=tuple(history.checks),
        incidents=tuple(history.incidents),
        decisions=tuple(history.decisions),
        decisions_left_out=history.decisions_left_out,
        commits=None if commits is None else tuple(commits),
        artifacts=_artifacts(history, where),
        waits=_longest(lanes, until),
        trust=tuple(_trust(view, history.checks)),
        unknown=tuple(_unknown(view, history, gaps)),
    )


def cleaned(value: Any) -> Any:  # noqa: ANN401 (any JSON)
    """Return JSON of which each text is fit to be shown."""
    match value:
        case str():
            return clean(value)
        case list():
            return [cleaned(each) for each in value]
        case Mapping():
            return {clean(key, 200): cleaned(each) for key, each in value.items()}
        case _:
            return value


def _steps(view: Mapping[str, Any], history: History) -> tuple[StepStory, ...]:
    tried: dict[str, list[Any]] = {}
    for (step, _), attempt in sorted(history.attempts.items()):
        tried.setdefault(step, []).append(attempt)
    return tuple(
        StepStory(
            id=clean(step.get("id"), 200),
            agent=clean(step.get("agent"), 100),
            title=clean(step.get("title"), 400),
            status=_status(step),
            why=clean(step.get("why")),
            attempts=tuple(tried.get(str(step.get("id")), ())),
        )
        for step in view.get("steps") or ()
    )


def _status(step: Mapping[str, Any]) -> str:
    """Return a step's status in words. One whose goal is reached in another way is not given up."""
    status = clean(step.get("status"), 40)
    return "planned anew" if status == "set_aside" and step.get("replaced") else status.replace("_", " ")


def _artifacts(history: History, where: Callable[[str], str]) -> tuple[Artifact, ...]:
    found: dict[str, Artifact] = {}
    for (step, path), line in history.artifacts.items():
        known = found.get(path) or Artifact(path, (), where(path), line)
        found[path] = replace(known, steps=(*known.steps, clean(step, 200) or "a report"))
    return tuple(found.values())


# Time --------------------------------------------------------------------------------------------


def _lanes(history: History, until: float) -> tuple[Lane, ...]:
    """Return agents first, in the order in which they began, then checks and what was waited for."""
    within = {name: [each for each in found if each.since < until] for name, found in history.spans.items()}
    spans = {name: sorted(found, key=_since) for name, found in within.items() if found}
    if idle := list(_idle(spans, history.began, until)):
        spans["nobody at work"] = idle
    agents = sorted(spans.keys() - set(_LAST_LANES), key=lambda name: spans[name][0].since)
    rest = [name for name in _LAST_LANES if name in spans]
    return tuple(Lane(name, tuple(spans[name])) for name in (*agents, *rest))


def _idle(spans: Mapping[str, Sequence[Span]], began: float | None, until: float) -> Iterable[Span]:
    """Yield when no program ran while the task was at work, with the cause as far as it is known."""
    if began is None:
        return
    every = [span for found in spans.values() for span in found]
    busy = [span for span in every if span.kind in {SpanKind.WORK, SpanKind.CHECK, SpanKind.STOPPED}]
    causes = sorted((span for span in every if span.kind in _CAUSES), key=_since)
    edge = began
    for span in sorted(busy, key=_since):
        if span.since - edge >= IDLE:
            yield from _explained(edge, span.since, causes)
        edge = max(edge, span.until or until)
    if until - edge >= IDLE:
        yield from _explained(edge, until, causes)


def _explained(since: float, until: float, causes: Iterable[Span]) -> Iterable[Span]:
    """Yield the parts of a time without any program: each as long as its cause went on, the rest without one."""
    edge = since
    for cause in causes:
        begin, end = max(cause.since, edge), min(cause.until or until, until)
        if end <= begin:
            continue
        if begin - edge >= IDLE:
            yield Span(SpanKind.IDLE, edge, begin, "no program ran", 0)
        yield Span(SpanKind.IDLE, begin, end, f"no program ran: {cause.text}", cause.line)
        edge = end
    if until - edge >= IDLE:
        yield Span(SpanKind.IDLE, edge, until, "no program ran", 0)


def _longest(lanes: Iterable[Lane], until: float) -> tuple[Span, ...]:
    """Return what was waited for longest; time without any program only where nothing else explains it."""
    waits = {SpanKind.LIMIT, SpanKind.QUESTION, SpanKind.BOX, SpanKind.IDLE}
    found = [
        span
        for lane in lanes
        for span in lane.spans
        if span.kind in waits and not (span.kind is SpanKind.IDLE and span.line)
    ]
    return tuple(sorted(found, key=lambda span: span.since - (span.until or until))[:_WAITS])


def _since(span: Span) -> float:
    return span.since


# Trust -------------------------------------------------------------------------------------------


def _trust(view: Mapping[str, Any], checks: Sequence[CheckStory]) -> Iterable[str]:
    """Yield on what the result rests: evidence that was looked up, commands that ran, or an agent's word."""
    criteria = [each for each in view.get("criteria") or () if isinstance(each, Mapping)]
    met = [each for each in criteria if each.get("met")]
    if not criteria:
        yield "No success criterion has been judged."
    else:
        accepted = [
            each for each in met if any(f"{said}".startswith(BY_USER) for said in each.get("evidence") or ())
        ]
        shown = [each for each in met if each.get("evidence") and each not in accepted]
        looked_up = f"; the evidence of {len(shown)} of them was looked up" if met else ""
        counts = view.get("counts")
        known = counts.get("criteria") if isinstance(counts, Mapping) else None
        total = max(len(criteria), known if isinstance(known, int) else 0)
        yield f"{len(met)} of {total} success criteria are met{looked_up}."
        if total > len(criteria):
            yield f"{total - len(criteria)} of them were not judged yet."
        if accepted:
            yield f"Accepted by the user: {'; '.join(clean(each.get('text'), 200) for each in accepted)}."
    bare = [clean(each.get("text"), 200) for each in met if each.get("attested") or not each.get("evidence")]
    if bare:
        yield f"Met by an agent's word alone: {'; '.join(bare)}."
    yield from _of_checks(view, checks)
    if view.get("state") == "partial":
        yield "Not all of the task was done: see what was not done."


def _of_checks(view: Mapping[str, Any], checks: Sequence[CheckStory]) -> Iterable[str]:
    last = {check.step: check for check in checks}
    if before := last.pop(BASELINE, None):
        yield f"Before anything was changed the check {'passed' if before.passed else 'failed'}."
    passed = [step for step, check in last.items() if check.passed]
    failed = [step for step, check in last.items() if not check.passed]
    if passed:
        yield f"Checks that the daemon itself ran exited 0 in the end for: {_named(passed)}."
    if failed:
        yield f"The last check failed for: {_named(failed)}."
    steps = [step for step in view.get("steps") or () if isinstance(step, Mapping)]
    subtask = {str(step.get("id")): str(step.get("subtask") or step.get("id")) for step in steps}
    checked = {subtask.get(step, step) for step in passed}
    unproven = [
        clean(step.get("id"), 200)
        for step in steps
        if step.get("commit")
        and step.get("status") == "passed"
        and subtask[str(step.get("id"))] not in checked
    ]
    if unproven:
        yield f"No command has tested {', '.join(unproven)}: only agents' word speaks for it."


def _named(steps: Iterable[str]) -> str:
    return ", ".join(clean(each, 200) for each in steps)


def _unknown(view: Mapping[str, Any], history: History, gaps: Iterable[str]) -> Iterable[str]:
    """Yield what a reader may take for known and is not."""
    usage = view.get("usage") or {}
    if usage.get("tokens") is None and history.attempts:
        yield "No program reported how many tokens it used: what the task cost is not known."
    if usage.get("partial"):
        yield "More tokens were used than are counted: a transcript could not be read whole."
    if usage.get("unpriced"):
        yield f"Without a price: {', '.join(clean(each, 100) for each in usage['unpriced'])}."
    for box in view.get("boxes") or ():
        for each in box.get("missing") or ():
            yield f"Not all files of {clean(each.get('instance'), 100)} are here from {clean(box.get('address'), 200)}."
    if view.get("state") in {"running", "waiting"}:
        yield "The task is not over: this is how it stood when the report was made."
    unclear = [clean(each.get("text"), 200) for each in view.get("criteria") or () if not each.get("met")]
    if unclear and view.get("state") in {"running", "waiting"}:
        yield f"Not judged as met so far: {'; '.join(unclear)}."
    for by, line in history.set_back:
        if by > IDLE:
            yield f"The clock was set back by {span_said(by)} at journal line {line}: times around it are not exact."
    yield from gaps
