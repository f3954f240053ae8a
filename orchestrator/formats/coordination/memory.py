"""Memories: `memories/MEMORY_ID.json` (C5). `scripts/memory-write.sh` writes it, too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from orchestrator.formats.coordination.fields import present, text, texts, time, unnamed, with_others
from orchestrator.formats.redact import redacted
from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import cut, neutral, one_line, refused
from orchestrator.formats.workflow.json_text import rewritten
from orchestrator.formats.workflow.nodes import Fields, json_node
from orchestrator.model.coordination import MEMORY_ID
from orchestrator.model.errors import BadFile, Fault, Refused
from orchestrator.model.memory import Memory, MemoryKind

SUFFIX: Final = ".json"
MEMORY_BYTES: Final = 262_144
"""How many bytes a file may have: the script allows 65,536 of content, and JSON may write one byte as two."""

TAG_BYTES: Final = 64
"""How many bytes a tag may have, as in the script."""

TAGS: Final = 64
"""How many tags a memory may have."""

OFFERED: Final = 400
"""Characters of a memory that an order shows."""

_ID: Final = re.compile(MEMORY_ID)
_SHAPE: Final[dict[str, Any]] = dict.fromkeys(
    ("id", "content", "type", "importance", "tags", "created", "misled")
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def read_memory(data: bytes, name: str, limit: int = MEMORY_BYTES) -> Memory:
    """Return the memory in a file.

    Raises:
        BadFile: with every fault: no JSON, too large, a field that is missing, of another type or outside its bounds,
            an id that is none or not the one of the file's name, a control character.

    """
    loaded = load_json(data, name, limit)
    if not isinstance(loaded, dict):
        raise BadFile(name, [Fault(1, "is not a JSON object: begin with `{`")])
    faults = list[Fault]()
    found = Fields(json_node(loaded), "", faults)
    memory = Memory(
        id=found.text("id", blank=False),
        content=found.text("content", blank=False),
        kind=found.member("type", MemoryKind),
        importance=found.fraction("importance"),
        tags=texts(found, "tags") or (),
        created=time(found, "created") or "",
        misled=time(found, "misled"),
        others=unnamed(loaded, _SHAPE),
    )
    text(found, "content")
    if not memory.created:
        found.fault("`created` is missing: write a moment in UTC, such as 2025-12-11T14:30:00Z")
    named = name.rpartition("/")[2].removesuffix(SUFFIX)
    if not is_memory_id(memory.id) or memory.id != named:
        found.fault(
            f"`id` is {memory.id[:80]!a}: write one such as mem_1702311000_abc123, as the file is named"
        )
    for problem in _problems(memory.content, memory.tags):
        found.fault(problem)
    if faults:
        raise refused(name, faults)
    return memory


def render_memory(memory: Memory, base: bytes = b"") -> bytes:
    """Return a memory as a file. `base`, the file as it is, stays if it says the same."""
    made = present(
        (
            ("id", memory.id),
            ("content", memory.content),
            ("type", memory.kind),
            ("importance", memory.importance),
            ("tags", memory.tags),
            ("created", memory.created),
            ("misled", memory.misled),
        )
    )
    return rewritten(
        memory,
        base,
        lambda data: read_memory(data, f"{memory.id}{SUFFIX}"),
        lambda _: with_others(made, memory.others),
    )


def offer(memories: Sequence[Memory]) -> str:
    """Return memories as an order shows them: a line each, which nothing in it can end."""
    lines = []
    for each in memories:
        doubt = "; somebody marked it as misleading" if each.misled else ""
        lines.append(
            f"- {each.id} ({each.kind}, {each.created[:10]}{doubt}): {cut(one_line(each.content), OFFERED)}"
        )
    return "\n".join(lines)


def is_memory_id(value: str) -> bool:
    """Return whether a text is the id of a memory. Nothing else becomes the name of a file."""
    return _ID.fullmatch(value) is not None


def checked_memory(memory: Memory) -> Memory:
    """Return a memory that is to be written, if its file would read again.

    Raises:
        Refused: its content is empty or too long, a tag is none, or one of them holds a control character.

    """
    if not memory.content.strip():
        raise Refused("the content is empty: write what was learned")
    if not memory.tags:
        raise Refused("there is no tag: give one at least, so that it is found again")
    if not 0 <= memory.importance <= 1:
        raise Refused(f"the importance is {memory.importance:g}: give a number from 0 to 1")
    if problems := _problems(memory.content, memory.tags):
        raise Refused("; ".join(problems))
    read_memory(render_memory(memory), f"{memory.id}{SUFFIX}")
    return memory


def masked(memory: Memory) -> Memory:
    """Return a memory as it may be shown: secrets masked, nothing in it that a terminal obeys or that hides text."""
    return replace(
        memory,
        content=redacted(neutral(memory.content)),
        tags=tuple(redacted(neutral(each)) for each in memory.tags),
    )


def _problems(content: str, tags: tuple[str, ...]) -> list[str]:
    problems = []
    if _CONTROL.search(content):
        problems.append("`content` holds a control character: take it out")
    if len(tags) > TAGS:
        problems.append(f"`tags` has {len(tags)} entries: {TAGS} at most")
    for tag in tags[:TAGS]:
        if not tag.strip() or len(tag.encode()) > TAG_BYTES:
            problems.append(f"a tag is {tag[:40]!a}: a tag has 1 to {TAG_BYTES} bytes")
        elif _CONTROL.search(tag) or "\n" in tag or "\t" in tag:
            problems.append(f"the tag {tag[:40]!a} holds a control character: take it out")
    return problems
