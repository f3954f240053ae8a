"""progress.md as text: what the PM says of a task and what lies in its folder, in the set form (H11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from orchestrator.formats.amounts import UNCOUNTED, cost_said, prices_said, span_said, tokens_said
from orchestrator.formats.text import local_minute, local_time
from orchestrator.formats.timestamps import parted
from orchestrator.model.handoff import CriterionMark
from orchestrator.model.task import TaskState
from orchestrator.model.usage import Usage
from orchestrator.scribe.content import Activity, AgentUsage, Artifact, Milestone, OnDisk, PMView
from orchestrator.scribe.escaping import TEXT_LENGTH, code_block, command_shown, shown, with_commands
from orchestrator.scribe.operations import operation_lines

MILESTONES_SHOWN: Final = 1000
_LAST_UPDATED: Final = "**Last Updated:** "
_LAST_CHECK_IN: Final = "**Last Check-in:** "
_MEANINGS: Final = {
    TaskState.RUNNING: "at work",
    TaskState.WAITING: "waiting for an answer (see Current Blockers)",
    TaskState.STOPPED: "stopped",
    TaskState.COMPLETE: "complete",
    TaskState.PARTIAL: "complete in part (see Result)",
    TaskState.FAILED: "failed",
}


_ENDED_OTHERWISE: Final = frozenset({TaskState.PARTIAL, TaskState.FAILED})
"""States whose phase says nothing: BLOCKED is the nearest label, and nobody waits for an answer."""


def render_progress(view: PMView, disk: OnDisk, at: float) -> str:
    """Return progress.md.

    Args:
        view: What the PM says.
        disk: What lies in the task's folder, newest first.
        at: Now, in seconds since the epoch.

    """
    parts = [
        _head(view, at),
        *(
            [_section("Result" if view.ended else "Result so far", _result(view, disk.report))]
            if view.outcome
            else []
        ),
        _section("Recent Activity (since last check-in)", _activity(disk)),
        _section("Milestone Summary", _milestones(view.milestones)),
        _section("Current Blockers", _blockers(view)),
        _section("Artifacts Generated", _artifacts(disk)),
    ]
    for title, lines in (
        ("File Operations", operation_lines(view.operations)),
        ("Success Criteria", _criteria(view)),
        ("Commits", _commits(view)),
        ("Tests", _tests(view)),
        ("Trouble", _troubled(view)),
        ("Notices", _notices(view)),
        ("Usage", _usage(view, at)),
    ):
        if said := list(lines):
            parts.append(_section(title, said))
    return "\n".join(parts)


def without_times(text: str) -> str:
    """Return progress.md without the times of its head, to tell whether anything else changed."""
    head, _, rest = text.partition("\n\n")
    kept = (line for line in head.split("\n") if not line.startswith((_LAST_UPDATED, _LAST_CHECK_IN)))
    return "\n".join(kept) + "\n\n" + rest


IGNORED_EDIT: Final = "cannot be taken, and the last good one is in force"


def _head(view: PMView, at: float) -> str:
    checked = "never" if view.last_checkin is None else local_time(view.last_checkin)
    agents = "no agent" if not view.runs else "1 agent" if view.runs == 1 else f"{view.runs} agents"
    unseen = f", {view.unseen} of which cannot be seen now" if view.unseen else ""
    done = f"; {view.steps}" if view.steps else ""
    phase = "" if view.state in _ENDED_OTHERWISE else f", phase {view.phase.value}"
    edit = f"**Your edit of task.md:** {IGNORED_EDIT} ({shown(view.brief_fault, TEXT_LENGTH)})\n"
    return (
        f"# Task Progress: {shown(view.task)}\n"
        f"{_LAST_UPDATED}{local_time(at)}\n"
        f"{_LAST_CHECK_IN}{checked}\n"
        f"**Now:** {_now(view)}{phase}{done}; {agents} running{unseen}\n{edit if view.brief_fault else ''}"
    )


def _now(view: PMView) -> str:
    """Return what becomes of the task just now."""
    limit = view.limited
    if limit is None:
        return f"{_MEANINGS[view.state]}{f', but {view.on_word}' if view.on_word else ''}"
    until = ""
    if limit.until is not None:
        late = limit.at >= limit.until
        until = f"{', which was to end at' if late else ' until'} {local_minute(limit.until)}"
    times = (
        "once"
        if limit.refusals == 1
        else f"{limit.refusals} times, at {local_time(limit.at)} for the last time"
    )
    return (
        f"held up by a usage limit since {local_time(limit.since)}{until} ({shown(limit.words)}; refused {times}; "
        f"tried again at {local_time(limit.next_try)})"
    )


def _section(title: str, lines: Iterable[str]) -> str:
    return f"## {title}\n" + "".join(f"{line}\n" for line in lines)


def _activity(disk: OnDisk) -> Iterable[str]:
    for note in disk.notes:
        yield f"- {shown(note, TEXT_LENGTH)}"
    for each in disk.activities:
        yield _active(each)
    if disk.more_activities:
        yield f"- … and {disk.more_activities} more"
    if not disk.activities and not disk.notes:
        yield "Nothing new."
    if disk.earlier:
        yield ""
        yield "Before that, the newest first:"
        yield from map(_active, disk.earlier)


def _active(each: Activity) -> str:
    path = shown(each.path)
    return f"- {path}: {each.summary}" if each.summary else f"- New artifact: {path}"


def _milestones(milestones: tuple[Milestone, ...]) -> Iterable[str]:
    yield "| Milestone | Status | Last Handoff | Notes |"
    yield "|-----------|--------|--------------|-------|"
    for milestone in milestones[:MILESTONES_SHOWN]:
        yield _row(milestone)
    if len(milestones) > MILESTONES_SHOWN:
        yield f"| … and {len(milestones) - MILESTONES_SHOWN} more | | | |"
    if not milestones:
        yield "| (none yet) | | | |"


@lru_cache(maxsize=4096)
def _row(milestone: Milestone) -> str:
    cells = (milestone.label, milestone.status, milestone.last_handoff, milestone.notes)
    return f"| {' | '.join(shown(cell) for cell in cells)} |"


def _blockers(view: PMView) -> Iterable[str]:
    for blocker in view.blockers:
        yield f"- {shown(blocker, TEXT_LENGTH)}"
    for question in view.questions:
        options = f" (options: {', '.join(question.options)})" if question.options else ""
        yield f"- {shown(question.text + options, TEXT_LENGTH)}"
        yield f"  Answer with: {command_shown(question.command)}"
        if question.default and question.deadline is not None:
            yield f"  Unanswered at {local_time(question.deadline)}, it is taken to be: {shown(question.default)}"
    if not view.blockers and not view.questions:
        yield "None"


def _artifacts(disk: OnDisk) -> Iterable[str]:
    for artifact in disk.artifacts:
        yield _artifact(artifact)
    if disk.more_artifacts:
        yield f"- … and {disk.more_artifacts} more"
    if not disk.artifacts:
        yield "None"


@lru_cache(maxsize=1024)
def _artifact(artifact: Artifact) -> str:
    return f"- {shown(artifact.path)} ({local_time(artifact.at)})"


def _usage(view: PMView, at: float) -> Iterable[str]:
    """Yield what each agent used, if any program told it."""
    if not any(each.used.reported or each.used.partial for each in view.usage):
        return
    yield "| Agent | Runs | Time | Tokens in | Tokens out | Cost | Context |"
    yield "|-------|------|------|-----------|------------|------|---------|"
    total = AgentUsage("all", 0, 0.0, Usage())
    for each in view.usage:
        yield _used(each)
        used = replace(total.used + each.used, context=None, window=None)
        total = AgentUsage("all", total.runs + each.runs, total.time + each.time, used)
    yield _used(total)
    if how := prices_said(total.used.prices, at, total.used.unpriced):
        yield ""
        said = f"Costs with a ~ are estimated {how}" if total.used.prices else f"{how[:1].upper()}{how[1:]}"
        yield shown(said, TEXT_LENGTH)
    if total.used.partial:
        yield ""
        yield f"{UNCOUNTED[:1].upper()}{UNCOUNTED[1:]}"
    phases = ", ".join(f"{phase.value} {span_said(time)}" for phase, time in view.by_phase.items())
    yield ""
    yield f"Time of agents by phase: {phases or 'none yet'}; nobody at work: {span_said(view.idle)}"


def _used(each: AgentUsage) -> str:
    used, reported = each.used, each.used.reported
    full = f" ({used.context / used.window:.0%})" if used.context and used.window else ""
    cells = (
        each.agent,
        str(each.runs),
        span_said(each.time),
        tokens_said(used.input) if reported else "",
        tokens_said(used.output) if reported else "",
        "" if used.dollars is None else cost_said(used.cost, used.estimate),
        f"{tokens_said(used.context)}{full}" if used.context else "",
    )
    return f"| {' | '.join(shown(cell) for cell in cells)} |"


def _result(view: PMView, report: Artifact | None) -> Iterable[str]:
    """Yield what was asked, what came of it, where it lies, what was not done, what it cost and what to type next."""
    seen = view.looked_at
    as_of = "" if seen is None else f" (the branch as of {local_time(seen)})"
    for name, said in view.outcome:
        yield f"- **{name}:** {with_commands(said)}{as_of if name == 'Work' else ''}"
    if report is not None:
        since = "; the task went on since" if view.moved_at > report.at else ""
        yield f"- **Report:** {shown(report.path)}, beside this page (written {local_time(report.at)}{since})"


def _criteria(view: PMView) -> Iterable[str]:
    for mark in view.criteria:
        reason = (
            f"evidence: {', '.join(_evidence(mark))}"
            if mark.met
            else f"not met: {mark.reason or 'no reason given'}"
        )
        reason = "" if mark.met and not mark.evidence else f" ({reason})"
        yield f"- [{'x' if mark.met else ' '}] {shown(mark.text + reason, TEXT_LENGTH)}"


def _evidence(mark: CriterionMark) -> Iterable[str]:
    """Yield each piece of evidence with what was found when it was looked up."""
    for place, text in enumerate(mark.evidence):
        detail = mark.details[place] if place < len(mark.details) else ""
        yield f"{text}: {detail}" if detail else text


def _commits(view: PMView) -> Iterable[str]:
    if view.more_commits > 0:
        yield f"- {view.more_commits} earlier ones, then:"
    for each in view.commits:
        yield f"- {shown(each.commit)} {shown(each.subject)} ({local_time(each.at)})"


def _tests(view: PMView) -> Iterable[str]:
    for check in view.checks:
        yield f"- {shown(check.what)}: exited {check.exit}"
        yield from code_block(check.lines)


def _troubled(view: PMView) -> Iterable[str]:
    for each in view.troubles:
        runs = f" in {each.runs} runs" if each.runs > each.attempts else ""
        yield f"- {shown(each.step)}: {each.attempts} attempt{'s' * (each.attempts != 1)}{runs}"
        for said, times in Counter(map(shown, each.feedback)).items():
            yield f"  - {said}" + (f" (said {times} times)" if times > 1 else "")
        if each.failed:
            where = f" (`task logs {shown(view.id or view.task)} {shown(each.run)}`)" if each.run else ""
            yield f"  - how its last run failed: {shown(each.failed)}{where}"
            yield from code_block(each.lines)


def _notices(view: PMView) -> Iterable[str]:
    """Yield what was noticed, each with its moment: the page is read on another day than it was written."""
    if view.more_notices > 0:
        every = view.more_notices + len(view.notices)
        yield f"- {view.more_notices} earlier ones (`task why {view.id or view.task} noticed -n {every}`), then:"
    for notice in view.notices:
        at, said = parted(notice)
        yield f"- {'' if at is None else f'{local_time(at)}: '}{shown(said, TEXT_LENGTH)}"
