"""The handoff format `json`: a report is one JSON object, each field of it checked."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import fields
from typing import Any

from orchestrator.formats.handoff_format import ReportForm
from orchestrator.model.errors import BadFile, Fault
from orchestrator.model.handoff import CriterionMark, Report, ReportStatus, Subtask, Verdict

suffix = ".json"

_TEXTS = ("completed", "blockers", "skill_gaps", "unchanged")


def read(data: bytes, name: str, limit: int, sections: Collection[str]) -> Report:
    """Return the report that a file is. Raises BadFile with every fault."""
    if len(data) > limit:
        raise BadFile(name, [Fault(0, f"is larger than {limit} bytes")])
    try:
        said = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise BadFile(name, [Fault(0, f"is no JSON: {problem}")]) from None
    if not isinstance(said, dict):
        raise BadFile(name, [Fault(0, "is no JSON object")])
    faults: list[Fault] = []

    def take(key: str, convert: Any, absent: Any) -> Any:
        if said.get(key) is None:
            return absent
        try:
            return convert(said[key])
        except (TypeError, ValueError, KeyError, AttributeError) as problem:
            faults.append(Fault(0, f"`{key}` cannot be read: {type(problem).__name__}: {problem}"))
            return absent

    status = take("status", ReportStatus, None)
    if status is None and not faults:
        faults.append(Fault(0, f"`status` is missing: write one of {', '.join(ReportStatus)}"))
    texts = {key: take(key, _text, "") for key in _TEXTS}
    if status is ReportStatus.BLOCKED and not texts["blockers"].strip():
        faults.append(Fault(0, "`status` is BLOCKED, and `blockers` is empty: say what blocks"))
    others = take("sections", dict, {})
    report = Report(
        status or ReportStatus.IN_PROGRESS,
        verdict=take("verdict", Verdict, None),
        run=take("run", _text, None),
        in_reply_to=take("in_reply_to", _text, None),
        artifacts=take("artifacts", _texts, ()),
        subtasks=take("subtasks", lambda all_: tuple(_made(Subtask, each) for each in all_), None),
        criteria=take("criteria", lambda all_: tuple(_made(CriterionMark, each) for each in all_), None),
        others=tuple((title, _text(others[title])) for title in sections if others.get(title)),
        **texts,
    )
    if faults:
        raise BadFile(name, faults)
    return report


def write(agent: str, at: float, report: Report) -> bytes:
    """Return a report as a JSON object."""
    said = {each.name: getattr(report, each.name) for each in fields(report) if each.name != "others"}
    for key in ("subtasks", "criteria"):
        if said[key] is not None:
            said[key] = [{each.name: getattr(one, each.name) for each in fields(one)} for one in said[key]]
    said |= {"agent": agent, "timestamp": at, "sections": dict(report.others)}
    return (json.dumps(said, indent=2, ensure_ascii=False) + "\n").encode()


def form(wanted: ReportForm) -> str:
    """Return the form of a report as its agent reads it."""
    said: dict[str, Any] = {
        "status": "(one of COMPLETE, BLOCKED, NEEDS_REVIEW)",
        "run": wanted.run,
        "in_reply_to": wanted.order,
        "completed": "(what you accomplished)",
        "artifacts": ["(the full path of a file that you wrote)"],
        "blockers": "(what prevented progress, if BLOCKED; otherwise empty)",
        "skill_gaps": "(what skill or context was missing, if BLOCKED; otherwise empty)",
    }
    if wanted.verdict:
        said["verdict"] = "(APPROVED or REJECTED)"
    if wanted.unchanged:
        said["unchanged"] = "(only if you changed no file: why no change was needed)"
    if wanted.subtasks:
        said["subtasks"] = [{"id": "first-id", "text": "(what is to be done)", "agent": "dev", "needs": []}]
    if wanted.criteria is not None:
        said["criteria"] = [
            {"text": each, "met": True, "evidence": ["(what shows it)"]} for each in wanted.criteria
        ]
    if wanted.sections:
        said["sections"] = {"(a title of those below)": "(its text)"}
    return f"```json\n{json.dumps(said, indent=2, ensure_ascii=False)}\n```\n{wanted.sections}"


def within(message: str) -> str:
    """Return the last JSON object of a message that has a status."""
    start = message.rfind("{\n")
    while start >= 0:
        try:
            found, _ = json.JSONDecoder().raw_decode(message[start:])
        except ValueError:
            found = None
        if isinstance(found, dict) and "status" in found:
            return json.dumps(found, ensure_ascii=False) + "\n"
        start = message.rfind("{\n", 0, start)
    return ""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("is no text")
    return value


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError("is no list")
    return tuple(map(_text, values))


def _made(kind: type[Any], said: dict[str, Any]) -> Any:
    known = {each.name for each in fields(kind)}
    return kind(
        **{
            key: tuple(value) if isinstance(value, list) else value
            for key, value in said.items()
            if key in known
        }
    )
