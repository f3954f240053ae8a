"""Reports that agents hand in to the PM (H6). Strict on the fields that steer, tolerant of the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from typing import Final, TypeVar

from orchestrator.formats.handoff_name import split_handoff_name
from orchestrator.formats.handoff_parts import (
    Handoff,
    HeaderLine,
    other_key,
    rendered,
    says_nothing,
    take_apart,
    written,
)
from orchestrator.formats.report_lists import (
    read_artifacts,
    read_marks,
    read_subtasks,
    render_artifacts,
    render_marks,
    render_subtasks,
)
from orchestrator.formats.sections import Section
from orchestrator.formats.text import FILE_BYTES, local_time, one_line, refused
from orchestrator.model.errors import Fault, Refused
from orchestrator.model.handoff import Report, ReportStatus, Verdict

_RUN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_T = TypeVar("_T")
_Enum = TypeVar("_Enum", bound=StrEnum)


def read_report(data: bytes, name: str, limit: int = FILE_BYTES, titles: Collection[str] = ()) -> Report:
    """Return the report in an agent's handoff.

    `**Status:**` and `**Verdict:**` in bold count anywhere outside code; other header lines only above the first
    section. Prose is kept up to 64 KB a section.

    Args:
        data: The file's bytes.
        name: Its name, for messages.
        limit: The most bytes it may have.
        titles: The titles of further sections to keep, for gates that read them.

    Raises:
        BadFile: with every fault: no Status or not exactly one of the allowed values, contradictory values,
            BLOCKED without Blockers, a malformed run id, order name, list of subtasks or of criteria, not UTF-8,
            too large.

    """
    handoff = take_apart(data, name, limit, titles)
    faults = list(handoff.faults)
    status_line, status = _single(handoff, "status", _one_of(ReportStatus), faults)
    faults += _no_status(handoff) if not status_line else []
    _, verdict = _single(handoff, "verdict", _one_of(Verdict), faults)
    _, run = _single(handoff, "run", checked_run, faults)
    _, order = _single(handoff, "in reply to", checked_order, faults)
    blockers = _unless_nothing(handoff.prose("blockers"))
    if status is ReportStatus.BLOCKED and not blockers:
        faults.append(
            Fault(status_line, "says BLOCKED, but `## Blockers` is empty: write there what blocks you")
        )
    artifacts = [path for part in handoff.under("artifacts") for path in read_artifacts(part.lines, faults)]
    subtasks = _only(handoff.under("subtasks"), faults)
    criteria = _only(handoff.under("criteria"), faults)
    report = Report(
        status=status or ReportStatus.IN_PROGRESS,
        verdict=verdict,
        run=run,
        in_reply_to=order,
        completed=handoff.prose("completed"),
        artifacts=tuple(artifacts),
        blockers=blockers,
        skill_gaps=_unless_nothing(handoff.prose("skill_gaps")),
        subtasks=read_subtasks(subtasks, faults) if subtasks else None,
        criteria=read_marks(criteria, faults) if criteria else None,
        unchanged=_unless_nothing(handoff.prose("unchanged")),
        others=tuple(
            (title, text)
            for title in dict.fromkeys(titles)
            if (text := _unless_nothing(handoff.prose(other_key(title))))
        ),
    )
    if faults:
        raise refused(name, faults)
    return report


def render_report(agent: str, at: float, report: Report) -> str:
    """Return a report as a handoff (H6); `read_report` reads it back.

    Args:
        agent: The agent that reports.
        at: When, in seconds since the epoch.
        report: The content. Control characters in it become visible characters.

    """
    headers = [("Timestamp", local_time(at)), ("Status", report.status.value)]
    if report.verdict:
        headers.append(("Verdict", report.verdict.value))
    if report.run:
        headers.append(("Run", one_line(report.run)))
    if report.in_reply_to:
        headers.append(("In reply to", one_line(report.in_reply_to)))
    bodies = [
        ("Completed Work", written(report.completed)),
        ("Artifacts Generated", render_artifacts(report.artifacts)),
    ]
    if report.blockers:
        bodies.append(("Blockers", written(report.blockers)))
    if report.skill_gaps:
        bodies.append(("Skill Gaps", written(report.skill_gaps)))
    if report.unchanged:
        bodies.append(("No Changes", written(report.unchanged)))
    bodies += [(one_line(title), written(text)) for title, text in report.others]
    if report.subtasks is not None:
        bodies.append(("Subtasks", render_subtasks(report.subtasks)))
    if report.criteria is not None:
        bodies.append(("Success Criteria", render_marks(report.criteria)))
    return rendered(one_line(agent), headers, bodies)


def _single(
    handoff: Handoff, key: str, convert: Callable[[str], _T | None], faults: list[Fault]
) -> tuple[int, _T | None]:
    """Return line and value of a header that may occur once, or repeatedly with the same value.

    The line is 0 if there is none; the value is None if it is missing or wrong.
    """
    found: list[tuple[int, _T | None]] = []
    for header in handoff.headers:
        if header.key != key or not (header.leading or _counts(header, convert)):
            continue
        try:
            found.append((header.line, convert(header.value)))
        except Refused as problem:
            faults.append(Fault(header.line, f"`**{key.capitalize()}:**` {problem}"))
            found.append((header.line, None))
    said = [each for each in found if each[1]]
    first, value = (said or found or [(0, None)])[0]
    for line, other in said:
        if other != value:
            conflict = f"`**{key.capitalize()}:**` is {other}, and {value} in line {first}"
            faults.append(Fault(line, f"{conflict}: choose one"))
    return first, value


def _no_status(handoff: Handoff) -> list[Fault]:
    """Return the fault of a missing status; it mentions one that does not count because it is in code."""
    missing = f"has no status: add a line `**Status:**` with one of {_listed(ReportStatus)}"
    line = handoff.in_code.get("status")
    return [
        Fault(
            0,
            f"{missing} (the one in line {line} is in a code block and does not count)" if line else missing,
        )
    ]


def _counts(header: HeaderLine, convert: Callable[[str], object]) -> bool:
    """Return whether a line inside a section counts: it is bold, and has an allowed value."""
    if not header.bold or header.key not in {"status", "verdict"}:
        return False
    try:
        return convert(header.value) is not None
    except Refused:
        return False


def _one_of(kind: type[_Enum]) -> Callable[[str], _Enum | None]:
    def convert(value: str) -> _Enum | None:
        if value.upper() in kind.__members__:
            return kind[value.upper()]
        if kind is Verdict and says_nothing(value):
            return None
        shown = one_line(value)[:60]
        several = sum(word.value in value.upper() for word in kind) > 1
        raise Refused(f"is {shown!r}: {'choose one' if several else 'write exactly one'} of {_listed(kind)}")

    return convert


def _listed(kind: type[StrEnum]) -> str:
    return ", ".join(word.value for word in kind)


def checked_run(value: str) -> str | None:
    """Return the run that a report names; None if it names none. Raises Refused."""
    if says_nothing(value):
        return None
    if not _RUN.fullmatch(value):
        raise Refused(f"is {one_line(value)[:60]!r}: write the run id given in your order")
    return value


def checked_order(value: str) -> str | None:
    """Return the file name of the order that a report answers; None if it names none. Raises Refused."""
    if says_nothing(value):
        return None
    order = value.rpartition("/")[2]
    if not split_handoff_name(order):
        raise Refused(f"is {one_line(value)[:60]!r}: write the file name of your order")
    return order


def _unless_nothing(prose: str) -> str:
    return "" if says_nothing(prose) else prose


def _only(found: list[Section], faults: list[Fault]) -> Section | None:
    faults.extend(_repeated(found))
    return found[0] if found else None


def _repeated(found: list[Section]) -> Iterable[Fault]:
    for section in found[1:]:
        twice = f"`## {one_line(section.heading.title)[:60]}` is in line {found[0].line} already"
        yield Fault(section.line, f"{twice}: keep one")
