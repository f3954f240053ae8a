"""Memory files of composite skills: the workflow context, and what each agent leaves (S2, S3).

A memory file is complete if

1. it is a plain file of UTF-8 text of 1 MB at most;
2. before its first section it says whose it is: `**Task:**`, `**Agent:**` and `**Phase:**`, each once;
3. its sections `## Summary` and `## Output` hold text of their own, not that of the form;
4. its last line is `**Status:** COMPLETE`, and does not stand in a block of code.

The last line makes a file that is still being written an incomplete one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from orchestrator.formats.lines import Kind, Line, scan, trimmed
from orchestrator.formats.sections import Section, Shape, sections
from orchestrator.formats.text import decoded, one_line, refused
from orchestrator.model.composite import AgentMemory, SkillPhase, SkillSession, agent_memory_file
from orchestrator.model.errors import Fault

MEMORY_BYTES: Final = 1_048_576
COMPLETE: Final = "**Status:** COMPLETE"

_SHAPE: Final = Shape({"summary": "summary", "output": "output"}, deepest=2)
_FORM: Final = {
    "summary": "What you found or did, in a few sentences.",
    "output": "All that the agents after you need.",
}
_WORD: Final = re.compile(r"\w+")
_MARK: Final = re.compile(r" {0,3}\*\*(Task|Agent|Phase):\*\*(.*)")


def memory_form(task_id: str, phase: SkillPhase) -> str:
    """Return the form of a memory file, as its agent is shown it."""
    return "\n".join(
        [
            f"# Memory of {phase.agent}",
            "",
            f"**Task:** {task_id}",
            f"**Agent:** {phase.agent}",
            f"**Phase:** {phase.id}",
            "",
            "## Summary",
            "",
            _FORM["summary"],
            "",
            "## Output",
            "",
            _FORM["output"],
            "",
            COMPLETE,
            "",
        ]
    )


def read_memory(data: bytes, task_id: str, phase: SkillPhase) -> AgentMemory:
    """Return what a complete memory file holds.

    Args:
        data: The file's bytes.
        task_id: The task for which it has to be.
        phase: The phase, with its agent.

    Raises:
        BadFile: it is not complete; with everything that it lacks.

    """
    name = agent_memory_file(task_id, phase.agent)
    lines = scan(decoded(data, name, MEMORY_BYTES).split("\n"))
    faults, last = list[Fault](), _last(lines)
    if last is None or last.kind is not Kind.TEXT or last.text.strip() != COMPLETE:
        faults.append(
            Fault(last.number if last else 0, f"the last line is not `{COMPLETE}`: the agent is at work")
        )
    body = [line for line in lines if line is not last or last.text.strip() != COMPLETE]
    parts = sections(body, _SHAPE)
    faults += _mark_faults(_head(parts), {"Task": task_id, "Agent": phase.agent, "Phase": phase.id})
    texts = {key: _text(parts, key, faults) for key in _FORM}
    if faults:
        raise refused(name, faults)
    return AgentMemory(texts["summary"], texts["output"])


def workflow_context(session: SkillSession, learnings: Sequence[str]) -> str:
    """Return the workflow context, which each agent of a session reads first.

    Args:
        session: With the outputs of steps 1 to 3.
        learnings: What was learned about the domain, a text each.

    Raises:
        ValueError: an output is missing.

    """
    task_id, classified, config = session.task_id, session.classified, session.config
    if task_id is None or classified is None or config is None:
        raise ValueError("the context comes after steps 1 to 3")
    about = [one_line(text) for text in (classified.confidence.value, classified.reason) if text]
    head = [
        "# Workflow context",
        "",
        f"**Task:** {task_id}",
        f"**Skill:** {config.name}",
        f"**Domain:** {classified.domain} ({': '.join(about)})",
    ]
    phases = [
        f"{number}. {phase.id}: {phase.agent} writes `{agent_memory_file(task_id, phase.agent)}`"
        for number, phase in enumerate(config.phases, 1)
    ]
    known = [f"- {one_line(each)}" for each in learnings] or ["Nothing was found."]
    blocks = (
        ("Request", [f"> {line}".rstrip() for line in session.request.splitlines()]),
        ("Skill", [one_line(config.description) or "It has no description."]),
        ("Phases", phases),
        (f"Learned about {classified.domain} work", known),
    )
    return "\n".join(
        [*head, *(line for title, block in blocks for line in ("", f"## {title}", "", *block)), ""]
    )


def _last(lines: Sequence[Line]) -> Line | None:
    return next((line for line in reversed(lines) if line.text.strip()), None)


def _head(parts: Sequence[Section]) -> list[Line]:
    """Return the lines before the first section that counts; a title may stand there."""
    first = next((number for number, part in enumerate(parts) if part.heading.key), len(parts))
    return [line for part in parts[:first] for line in part.lines]


def _mark_faults(head: Sequence[Line], wanted: dict[str, str]) -> Iterator[Fault]:
    found = [
        (mark[1], mark[2].strip(), line.number)
        for line in head
        if line.kind is Kind.TEXT and (mark := _MARK.match(line.text))
    ]
    for key, value in wanted.items():
        values = [(said, number) for name, said, number in found if name == key]
        if len(values) != 1:
            said = "is missing" if not values else "is there more than once"
            yield Fault(
                values[-1][1] if values else 0, f"`**{key}:** {value}` {said}: write it before the sections"
            )
        elif values[0][0] != value:
            yield Fault(values[0][1], f"`**{key}:**` is {one_line(values[0][0])[:60]!a} instead of {value!a}")


def _text(parts: Sequence[Section], key: str, faults: list[Fault]) -> str:
    found = [part for part in parts if part.heading.key == key]
    if len(found) != 1:
        said = "is missing" if not found else "is there more than once"
        faults.append(Fault(found[-1].line if found else 0, f"the section `## {key.capitalize()}` {said}"))
        return ""
    text = trimmed([line.text for line in found[0].lines])
    words = _words(found[0].lines)
    if not words or words == _WORD.findall(_FORM[key]):
        said = "has the form's own text" if words else "is empty"
        faults.append(
            Fault(found[0].line, f"the section `## {key.capitalize()}` {said}: write what you have")
        )
    return text


def _words(lines: Sequence[Line]) -> list[str]:
    """Return the words of a section that somebody reads: none of comments, titles, and the marks of code."""
    read = (
        line.text
        for line in lines
        if line.kind is Kind.CODE or (line.kind is Kind.TEXT and not line.text.lstrip().startswith("#"))
    )
    return _WORD.findall(" ".join(read))
