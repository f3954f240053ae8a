"""A handoff from role to role as the report that the hub reads, and back (C1, H15).

What a handoff says in its own fields is taken from there: the summary is the completed work, the transition the
status, an audit's transition its verdict. What only a report can say stands in one more object of the handoff's file,
`report`, field by field; it is written only where it says something else than the handoff does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import fields, replace
from typing import Any, Final, TypeVar

from orchestrator.formats.coordination.fields import Others, text, texts
from orchestrator.formats.report import checked_order, checked_run
from orchestrator.formats.text import neutral, one_line
from orchestrator.formats.workflow.nodes import Fields, json_node
from orchestrator.model.coordination import (
    Deliverable,
    HandoffHead,
    HandoffStatus,
    PipelineRole,
    RoleHandoff,
    Transition,
    iso,
)
from orchestrator.model.errors import Fault, Refused
from orchestrator.model.handoff import CriterionMark, Report, ReportStatus, Subtask, Verdict

REPORT: Final = "report"
"""The object of a handoff's file that has what only a report can say."""

KEYS: Final = {
    "status": "status",
    "verdict": "verdict",
    "run": "run",
    "in_reply_to": "inReplyTo",
    "blockers": "blockers",
    "skill_gaps": "skillGaps",
    "unchanged": "unchanged",
    "subtasks": "subtasks",
    "criteria": "criteria",
    "others": "sections",
}
_NO_REASON: Final = "The plan does not hold."
_T = TypeVar("_T")


def hub_report(handoff: RoleHandoff, faults: list[Fault], sections: Collection[str] | None = None) -> Report:
    """Return a handoff as a report; adds what is wrong with its object `report` to `faults`.

    Args:
        handoff: What was handed on.
        faults: Where faults are collected.
        sections: The titles of further sections to keep; None for all.

    """
    said: Any = {path[1]: json.loads(value) for path, value in report_values(handoff.others) if len(path) > 1}
    if whole := [value for path, value in handoff.others if path == (REPORT,)]:
        said = json.loads(whole[0])  # no object: the reader of its fields says so
    own = Fields(json_node(said), REPORT, faults)
    report = _derived(handoff)
    if own.has("status"):
        report = replace(report, status=own.member("status", ReportStatus))
    elif handoff.head.transition is None and handoff.head.status is not HandoffStatus.REJECTED:
        faults.append(
            Fault(
                0,
                "has neither `handoff.type` nor `report.status`: write what the handoff means, one of "
                f"{', '.join(Transition)}, or one of {', '.join(ReportStatus)}",
            )
        )
    if own.has("verdict"):
        report = replace(report, verdict=own.member("verdict", Verdict))
    report = replace(
        report,
        run=_checked(own, "run", checked_run),
        in_reply_to=_checked(own, "inReplyTo", checked_order),
        skill_gaps=text(own, "skillGaps") or "",
        unchanged=text(own, "unchanged") or "",
        blockers=(text(own, "blockers") or "") if own.has("blockers") else report.blockers,
        subtasks=tuple(map(_subtask, own.objects("subtasks"))) if own.has("subtasks") else None,
        criteria=tuple(map(_mark, own.objects("criteria"))) if own.has("criteria") else None,
        others=tuple(_sections(own, sections)),
    )
    if report.status is ReportStatus.BLOCKED and not report.blockers.strip():
        faults.append(Fault(0, "says BLOCKED, but `report.blockers` is empty: write there what blocks you"))
    return report


def handed_on(report: Report, head: HandoffHead | None = None) -> RoleHandoff:
    """Return a report as a handoff; `hub_report` returns the same report."""
    deliverable = None
    if report.completed or report.artifacts:
        deliverable = Deliverable(
            summary=neutral(report.completed) or None,
            artifacts=tuple(map(one_line, report.artifacts)) or None,
        )
    return saying(RoleHandoff(head or HandoffHead(), deliverable=deliverable), report)


def saying(handoff: RoleHandoff, report: Report) -> RoleHandoff:
    """Return a handoff whose object `report` has what a report says and its other fields do not."""
    derived = _derived(handoff)
    more = tuple(
        ((REPORT, KEYS[each.name]), json.dumps(_plain(getattr(report, each.name)), ensure_ascii=False))
        for each in fields(report)
        if each.name in KEYS
        and (
            getattr(report, each.name) != getattr(derived, each.name)
            or (each.name == "status" and handoff.head.transition is None)
        )
    )
    kept = tuple(each for each in handoff.others if each[0][0] != REPORT)
    return replace(handoff, others=tuple(sorted((*kept, *more))))


def head_of(agent: str, at: float) -> HandoffHead:
    """Return the head of what an agent hands in. An agent that is named by a role has it."""
    named = agent.partition("-")[0].upper()
    return HandoffHead(source=PipelineRole(named) if named in list(PipelineRole) else None, timestamp=iso(at))


def report_values(others: Others) -> Others:
    """Return those of the fields which the format does not name that are of the object `report`."""
    return tuple(each for each in others if each[0][0] == REPORT)


def _derived(handoff: RoleHandoff) -> Report:
    """Return the report that a handoff makes by its own fields."""
    head, deliverable = handoff.head, handoff.deliverable or Deliverable()
    replans = head.transition is Transition.REPLAN
    verdict = None
    if head.status is HandoffStatus.REJECTED:
        verdict = Verdict.REJECTED
    elif head.transition is Transition.CLEAN_UP or (
        head.source is PipelineRole.AUDITOR and head.transition is not None
    ):
        verdict = Verdict.REJECTED if replans else Verdict.APPROVED
    blockers = "\n".join(f"{each.severity}: {each.description}" for each in handoff.issues or ())
    return Report(
        ReportStatus.BLOCKED if replans else ReportStatus.COMPLETE,
        verdict=verdict,
        completed=deliverable.summary or "",
        artifacts=deliverable.artifacts or (),
        blockers=(blockers or _NO_REASON) if replans else "",
    )


def _checked(found: Fields, key: str, check: Callable[[str], _T | None]) -> _T | None:
    try:
        return check(text(found, key) or "")
    except Refused as problem:
        found.fault(f"`{found.path(key)}` {problem}")
        return None


def _subtask(found: Fields) -> Subtask:
    return Subtask(
        found.name("id", what="id of a subtask"),
        text(found, "text") or "",
        found.name("agent", "dev") or "dev",
        found.names("needs"),
        text(found, "doneWhen") or "",
        texts(found, "files") or (),
    )


def _mark(found: Fields) -> CriterionMark:
    return CriterionMark(
        text(found, "text") or "",
        found.boolean("met"),
        texts(found, "evidence") or (),
        text(found, "reason") or "",
    )


def _sections(found: Fields, wanted: Collection[str] | None) -> Iterator[tuple[str, str]]:
    own = found.object("sections")
    for title in own.names_of_fields if own else ():
        said = text(own, title) if own else None
        if said and (wanted is None or title in wanted):
            yield title, said


def _plain(value: object) -> Any:  # noqa: ANN401 (any JSON value)
    """Return a value of a report as JSON has it."""
    match value:
        case Subtask():
            return {
                "id": value.id,
                "text": neutral(value.text),
                "agent": value.agent,
                "needs": list(value.needs),
                "doneWhen": neutral(value.done_when),
                "files": list(map(one_line, value.files)),
            }
        case CriterionMark():
            return {
                "text": neutral(value.text),
                "met": value.met,
                "evidence": list(map(one_line, value.evidence)),
                "reason": neutral(value.reason),
            }
        case tuple() if value and isinstance(value[0], tuple):
            return {one_line(title): neutral(said) for title, said in value}
        case tuple():
            return [_plain(each) for each in value]
        case ReportStatus() | Verdict() | None:
            return value
        case _:
            return neutral(str(value))
