"""Research on a technology, `tasks/.research/TECHNOLOGY/EPOCH-SHA8.md`, found by its front matter."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from orchestrator.formats.front_matter import Value, read_front_matter, render_front_matter
from orchestrator.formats.lines import trimmed
from orchestrator.formats.text import decoded, neutral, one_line, refused
from orchestrator.model.errors import Fault, Refused
from orchestrator.model.names import checked_name
from orchestrator.model.workflow_records import Research

FOLDER: Final = ".research"
OLD_AFTER: Final = 180 * 86400
"""Seconds after which research is no longer taken for current."""

_EPOCH: Final = re.compile(r"[0-9]{1,12}")


def read_research(data: bytes, name: str) -> Research:
    """Return a note of research.

    Raises:
        BadFile: with every fault: a field that is missing or of the wrong kind, no text.

    """
    matter = read_front_matter(decoded(data, name))
    faults = list(matter.faults)

    def field(key: str) -> Value:
        if key not in matter.fields:
            faults.append(Fault(0, f"has no `{key}:` in its front matter"))
            return ""
        return matter.fields[key].value

    def text(key: str) -> str:
        value = field(key)
        if not isinstance(value, str):
            faults.append(Fault(matter.fields[key].line, f"`{key}` is a list: write one text"))
            return ""
        return one_line(value)

    def texts(key: str) -> tuple[str, ...]:
        value = field(key)
        return tuple(map(one_line, (value,) if isinstance(value, str) and value else value))

    technology, created = text("technology"), text("created")
    try:
        checked_name(technology, "name of a technology")
    except Refused as problem:
        faults.append(Fault(matter.fields["technology"].line if technology else 0, str(problem)))
    if created and not _EPOCH.fullmatch(created):
        faults.append(
            Fault(matter.fields["created"].line, f"`created` is {created[:40]!a}: write seconds since 1970")
        )
    body = trimmed(matter.body.split("\n"))
    if not body:
        faults.append(Fault(0, "holds no text below its front matter"))
    made = (text("task_type"), texts("keywords"), texts("sources"), text("workflow"))
    if faults:
        raise refused(name, faults)
    return Research(technology, made[0], made[1], made[2], int(created), made[3], body)


def render_research(research: Research) -> str:
    """Return a note of research as a file; `read_research` reads it back."""
    fields: dict[str, Value] = {
        "technology": research.technology,
        "task_type": one_line(research.task_type),
        "keywords": tuple(map(one_line, research.keywords)),
        "sources": tuple(map(one_line, research.sources)),
        "created": str(research.created),
        "workflow": one_line(research.workflow),
    }
    return render_front_matter(fields, trimmed(neutral(research.text).split("\n")))


def research_name(research: Research) -> str:
    """Return the name of its file: `EPOCH-SHA8.md`, the hash of the text."""
    return f"{research.created}-{hashlib.sha256(research.text.encode()).hexdigest()[:8]}.md"


def is_old(research: Research, now: float) -> bool:
    """Return whether research is too old to be relied on."""
    return now - research.created > OLD_AFTER
