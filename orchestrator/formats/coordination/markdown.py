"""A handoff from role to role as the hub's markdown handoff, and back (C1).

What markdown has a section for stands in that section, where people and other agents read it. The rest stands in a
section of its own, `## Coordination`, as JSON. So nothing is lost, and `kept_apart` says what the form could not say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from orchestrator.formats.coordination.handoff import document, handoff_in
from orchestrator.formats.coordination.hub_report import REPORT, hub_report, saying
from orchestrator.formats.lines import scan
from orchestrator.formats.lists import items
from orchestrator.formats.report import read_report, render_report
from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import FILE_BYTES, PROSE_LENGTH, neutral_json, refused
from orchestrator.model.coordination import RoleHandoff, moment
from orchestrator.model.errors import BadFile, Fault, Refused
from orchestrator.model.handoff import Report

_Path: TypeAlias = tuple[str, ...]

_LISTS: Final[dict[str, _Path]] = {
    "Next Steps": ("nextSteps", "instructions"),
    "Constraints": ("nextSteps", "constraints"),
    "Acceptance Criteria": ("nextSteps", "acceptanceCriteria"),
}
_ISSUES: Final = "Issues"
REST: Final = "Coordination"
TITLES: Final = (*_LISTS, _ISSUES, REST)
_SUMMARY: Final = ("deliverable", "summary")
_ARTIFACTS: Final = ("deliverable", "artifacts")
_FENCED: Final = re.compile(r"```json\n(.*)\n```", re.DOTALL)
_ISSUE: Final = re.compile(r"\[(\w{1,20})\] (.*)", re.DOTALL)
_ADVICE: Final = "Recommendation: "


def render_markdown(handoff: RoleHandoff) -> bytes:
    """Return a handoff as the hub's markdown; `read_markdown` returns the same handoff.

    Raises:
        Refused: what markdown has no section for is longer than a section may be (64 KB).

    """
    native = _native(handoff)
    rest = _without(document(handoff), native)
    made = _rendered(handoff, native, (REST, _block(rest)))
    if _reads_as(made, handoff):
        return made
    # What its sections say of a report is not what the handoff's own object `report` says.
    return _rendered(handoff, native, (REST, _block({**rest, REPORT: document(handoff).get(REPORT, {})})))


def kept_apart(handoff: RoleHandoff) -> tuple[str, ...]:
    """Return the fields, by path, that markdown has no section for and keeps as JSON."""
    rest = _without(document(handoff), _native(handoff))
    return tuple(sorted(_leaves(rest, "")))


def read_markdown(
    data: bytes, name: str, limit: int = FILE_BYTES, titles: Collection[str] = ()
) -> RoleHandoff:
    """Return the handoff that a markdown handoff is, also of an agent that knows no roles.

    What stands in a section counts, and what is in `## Coordination` beside it. What only a report can say is kept in
    the object `report`. `titles` are those of further sections to keep.

    Raises:
        BadFile: with every fault, as `read_report` and `read_handoff` do.

    """
    report = read_report(data, name, limit, (*TITLES, *titles))
    loaded = _loaded(report, name)
    handoff = _handoff(loaded, name)
    if REPORT in loaded:
        return handoff
    return saying(
        handoff,
        replace(report, others=tuple(each for each in report.others if each[0] not in TITLES)),
    )


def handoff_within(report: Report, name: str) -> RoleHandoff:
    """Return the handoff that a report holds, of whichever format, without what only a report can say.

    Fields of which the report says nothing are missing. `name` is that of the report's file, for messages.

    Raises:
        BadFile: with every fault in what stands in its sections.

    """
    loaded = _loaded(report, name)
    loaded.pop(REPORT, None)
    return _handoff(loaded, name)


def whole_section(handoff: RoleHandoff) -> tuple[str, str]:
    """Return a section of a report that holds a whole handoff, for `handoff_within`."""
    return REST, f"```json\n{json.dumps(document(handoff), ensure_ascii=False)}\n```"


def _loaded(report: Report, name: str) -> dict[str, Any]:
    """Return the JSON object that a report makes: what stands in a section counts, and the rest beside it."""
    loaded = _rest(report.section(REST), name)
    for path, value in _said(report).items():
        place = loaded
        for each in path[:-1]:
            inner = place.setdefault(each, {})
            if not isinstance(inner, dict):
                raise BadFile(name, [Fault(0, f"`{each}` in `## {REST}` is no object: write an object")])
            place = inner
        place[path[-1]] = value
    loaded.setdefault("handoff", {})
    return loaded


def _handoff(loaded: dict[str, Any], name: str) -> RoleHandoff:
    faults = list[Fault]()
    handoff = handoff_in(loaded, faults)
    if faults:
        raise refused(name, faults)
    return handoff


def _block(rest: dict[str, Any]) -> str:
    text = neutral_json(json.dumps(rest, indent=2))
    if len(text) > PROSE_LENGTH - 100:
        raise Refused(
            f"the handoff has {len(text)} characters that markdown has no section for, {PROSE_LENGTH} at most: "
            "keep it as JSON"
        )
    return f"```json\n{text}\n```"


def _reads_as(data: bytes, handoff: RoleHandoff) -> bool:
    titles = [title for title, _ in hub_report(handoff, []).others]
    try:
        return read_markdown(data, "", 16 * FILE_BYTES, titles) == handoff
    except BadFile:
        return False


def _native(handoff: RoleHandoff) -> dict[_Path, Any]:
    """Return what of a handoff markdown says in its own sections: what comes back from there as it was."""
    whole = document(handoff)
    wanted = {
        path: value
        for path in (_SUMMARY, _ARTIFACTS, *_LISTS.values(), ("issues",))
        if (value := _at(whole, path)) and (path != ("issues",) or not _odd_issues(value))
    }
    try:
        back = _said(read_report(_rendered(handoff, wanted), "", 16 * FILE_BYTES, TITLES))
    except BadFile:
        return {}
    return {path: value for path, value in wanted.items() if back.get(path) == value}


def _rendered(handoff: RoleHandoff, native: dict[_Path, Any], *more: tuple[str, str]) -> bytes:
    """Return markdown with these parts of a handoff in their sections."""
    report = hub_report(handoff, [])
    sections = [
        (title, "\n".join(f"- {each}" for each in native[path]))
        for title, path in _LISTS.items()
        if path in native
    ]
    if ("issues",) in native:
        sections.append((_ISSUES, "\n".join(map(_issue_written, native["issues",]))))
    written = replace(
        report,
        completed=native.get(_SUMMARY, ""),
        artifacts=tuple(native.get(_ARTIFACTS, ())),
        others=(*report.others, *sections, *more),
    )
    agent = handoff.head.source.lower() if handoff.head.source else "agent"
    return render_report(agent, moment(handoff.head.timestamp or "") or 0.0, written).encode()


def _said(report: Report) -> dict[_Path, Any]:
    """Return what the sections of a report say of a handoff."""
    said: dict[_Path, Any] = {}
    if report.completed:
        said[_SUMMARY] = report.completed
    if report.artifacts:
        said[_ARTIFACTS] = list(report.artifacts)
    for title, path in _LISTS.items():
        if listed := _listed(report.section(title)):
            said[path] = listed
    if issues := _listed_issues(report.section(_ISSUES)):
        said["issues",] = issues
    return said


def _listed(section: str) -> list[str]:
    return [
        "\n".join((item.text, *(line.text.strip() for line in item.more)))
        for item in items(scan(section.split("\n")))
    ]


def _listed_issues(section: str) -> list[dict[str, Any]]:
    issues = list[dict[str, Any]]()
    for item in items(scan(section.split("\n"))):
        found = _ISSUE.fullmatch(item.text)
        if not found:
            continue
        issue = {"severity": found[1], "description": found[2]}
        advice = [line.text.strip() for line in item.more if line.text.strip().startswith(_ADVICE)]
        if advice:
            issue["recommendation"] = advice[0].removeprefix(_ADVICE)
        issues.append(issue)
    return issues


def _issue_written(issue: dict[str, Any]) -> str:
    advice = f"\n  {_ADVICE}{issue['recommendation']}" if "recommendation" in issue else ""
    return f"- [{issue['severity']}] {issue['description']}{advice}"


def _odd_issues(issues: Sequence[dict[str, Any]]) -> bool:
    """Return whether issues have fields that the format does not name: then they are kept apart as a whole."""
    return any(set(each) - {"severity", "description", "recommendation"} for each in issues)


def _rest(section: str, name: str) -> dict[str, Any]:
    if not section:
        return {}
    found = _FENCED.fullmatch(section.strip())
    loaded = load_json(found[1].encode(), name) if found else None
    if not isinstance(loaded, dict):
        raise BadFile(
            name, [Fault(0, f"`## {REST}` holds no block of JSON: leave it as it was, or take it out")]
        )
    return loaded


def _at(whole: dict[str, Any], path: _Path) -> Any:  # noqa: ANN401 (any JSON value)
    place: Any = whole
    for each in path:
        place = place.get(each) if isinstance(place, dict) else None
    return place


def _without(whole: dict[str, Any], paths: Collection[_Path]) -> dict[str, Any]:
    """Return an object without these fields, and without what a report says by itself."""
    return {
        key: {inner: each for inner, each in value.items() if (key, inner) not in paths}
        if isinstance(value, dict)
        else value
        for key, value in whole.items()
        if (key,) not in paths and key != REPORT
    }


def _leaves(value: dict[str, Any], path: str) -> Iterable[str]:
    for key, inner in value.items():
        here = f"{path}.{key}" if path else key
        if isinstance(inner, dict) and inner:
            yield from _leaves(inner, here)
        elif inner != {}:
            yield here
