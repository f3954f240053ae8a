"""The handoff format `coordination`, which ships: a report is a handoff from role to role, as JSON (C1, H15).

`handoffs: coordination` in task.md asks agents for it.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from orchestrator.formats.text import refused
from orchestrator.model.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Collection

    from orchestrator.formats.handoff_format import ReportForm
    from orchestrator.model.handoff import Report

suffix: Final = ".handoff"

_HANDED_ON: Final[dict[str, Any]] = {
    "handoff": {
        "type": "(what it means: your instructions name it; leave it out to hand back or if you are blocked)",
        "status": "(pending; or rejected, to hand back what you were handed)",
    },
    "context": {
        "scope": "(what the work covers)",
        "dependencies": ["(a file that the work is about; a plan must name some)"],
    },
    "deliverable": {
        "type": "(implementation_plan, implementation, audit_report or cleanup_report)",
        "location": "(its main file, as it stands under artifacts)",
        "summary": "(what it is, in a sentence)",
        "artifacts": ["(the full path of each file that you wrote or changed)"],
    },
    "nextSteps": {
        "instructions": ["(what the next role is to do)"],
        "constraints": ["(what must be and what must not be)"],
        "acceptanceCriteria": ["(how anybody can see that it is done)"],
    },
}
"""What a role hands on. Roles, moment, task and id are the PM's to add."""

_BEGINS: Final = re.compile(r'\{\s{0,20}"handoff"\s{0,20}:')


def read(data: bytes, name: str, limit: int, sections: Collection[str]) -> Report:
    """Return the report that a file is. Raises BadFile with every fault."""
    from orchestrator.formats.coordination.handoff import read_handoff
    from orchestrator.formats.coordination.hub_report import hub_report
    from orchestrator.formats.coordination.markdown import REST, whole_section

    faults = list[Fault]()
    handoff = read_handoff(data, name, limit)
    report = hub_report(handoff, faults, sections)
    if faults:
        raise refused(name, faults)
    if REST in sections and not report.section(REST):
        return replace(report, others=(*report.others, whole_section(handoff)))
    return report


def write(agent: str, at: float, report: Report) -> bytes:
    """Return a report as a file."""
    from orchestrator.formats.coordination.handoff import render_handoff
    from orchestrator.formats.coordination.hub_report import handed_on, head_of

    return render_handoff(handed_on(report, head_of(agent, at)))


def form(wanted: ReportForm) -> str:
    """Return the form of a report as its agent reads it."""
    own: dict[str, Any] = {
        "status": "(one of COMPLETE, BLOCKED, NEEDS_REVIEW)",
        "run": wanted.run,
        "inReplyTo": wanted.order,
        "blockers": "(what prevented progress, if BLOCKED; otherwise empty)",
        "skillGaps": "(what skill or context was missing, if BLOCKED; otherwise empty)",
    }
    if wanted.verdict:
        own["verdict"] = "(APPROVED or REJECTED)"
    if wanted.unchanged:
        own["unchanged"] = "(only if you changed no file: why no change was needed)"
    if wanted.subtasks:
        own["subtasks"] = [
            {
                "id": "first-id",
                "text": "(what is to be done)",
                "agent": "dev",
                "needs": [],
                "doneWhen": "(how anyone can see that it is done)",
                "files": ["(the files and folders it will change)"],
            }
        ]
    if wanted.criteria is not None:
        own["criteria"] = [
            {"text": each, "met": True, "evidence": ["(what shows it)"], "reason": "(if not met: why)"}
            for each in wanted.criteria
        ]
    if wanted.sections:
        own["sections"] = {"(a title of those below)": "(its text)"}
    said: dict[str, Any] = {
        "handoff": {"timestamp": "(the moment in UTC, as 2025-12-11T14:30:00Z)"},
        "deliverable": {
            "summary": "(what you accomplished)",
            "artifacts": ["(the full path of a file that you wrote)"],
        },
    }
    if wanted.hands_on:
        said = dict(_HANDED_ON)
        own["status"] = "(only if you are blocked: BLOCKED; otherwise leave it out)"
        own.pop("verdict", None)
    said |= {
        "issues": [
            {
                "severity": "(critical, high, medium or low)",
                "description": "(what you found and did not mend)",
                "recommendation": "(what to do about it)",
            }
        ],
        "report": own,
    }
    return f"```json\n{json.dumps(said, indent=2, ensure_ascii=False)}\n```\n{wanted.sections}"


def within(message: str) -> str:
    """Return the last handoff in an agent's message; empty if there is none."""
    begins = [found.start() for found in _BEGINS.finditer(message)]
    if not begins:
        return ""
    try:
        found, _ = json.JSONDecoder().raw_decode(message, begins[-1])
    except (ValueError, RecursionError):
        return ""
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
