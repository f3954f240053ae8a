"""`SKILL.md`: reads the name and the purpose of a skill from its front matter (H12).

Other fields are ignored: skills carry fields of many CLIs, in their authors' YAML. Plain, quoted, folded and block
texts are read for `name` and `description`.
"""

from __future__ import annotations

import re
from typing import Final

from orchestrator.formats.front_matter import read_front_matter
from orchestrator.formats.text import cut, decoded, one_line, refused
from orchestrator.model.errors import BadName, Fault
from orchestrator.model.names import checked_name
from orchestrator.model.skills import Skill

DESCRIPTION: Final = 500
"""Characters of a description that are kept: enough to decide whether a skill fits a step."""

_RULE: Final = re.compile(r"---[ \t]*")
_BLOCK: Final = re.compile(r"[|>][+-]?[0-9]?[+-]?[ \t]*(?:#.*)?")
_FRONT_LINES: Final = 500


def read_skill(data: bytes, name: str, folder: str) -> Skill:
    """Return the skill that a `SKILL.md` describes.

    Args:
        data: The file's bytes.
        name: The file, for messages; it becomes the skill's `path`.
        folder: The name of its folder, which is the skill's name if the file gives none.

    Raises:
        BadFile: not UTF-8, no front matter, no description, or an invalid name.

    """
    lines = decoded(data, name).split("\n")
    if not _RULE.fullmatch(lines[0]):
        raise refused(name, [Fault(1, "has no front matter: begin with a line `---`")])
    end = next((n for n, line in enumerate(lines[1:_FRONT_LINES], 1) if _RULE.fullmatch(line)), 0)
    if not end:
        raise refused(name, [Fault(1, "the front matter is never closed: end it with a line `---`")])
    faults = list[Fault]()
    called = _field(lines[1:end], "name", faults) or folder
    description = _field(lines[1:end], "description", faults)
    try:
        checked_name(called, "skill name")
    except BadName as problem:
        faults.append(Fault(0, str(problem)))
    if not description and not faults:
        faults.append(Fault(0, "has no `description`: say what the skill is for"))
    if faults:
        raise refused(name, faults)
    return Skill(called, cut(description, DESCRIPTION), name)


def _field(lines: list[str], key: str, faults: list[Fault]) -> str:
    """Return the text of one field as one line; empty if it is missing or cannot be read."""
    start = next((n for n, line in enumerate(lines) if line.startswith(f"{key}:")), None)
    if start is None:
        return ""
    first = lines[start].removeprefix(f"{key}:").strip()
    more = []
    for line in lines[start + 1 :]:
        if line.strip() and not line.startswith((" ", "\t")):
            break
        more.append(line.strip())
    if not first or _BLOCK.fullmatch(first):
        return one_line(" ".join(more))
    found = read_front_matter("\n".join(["---", " ".join([f"{key}: {first}", *more]).rstrip(), "---"]))
    faults += [Fault(start + 2, fault.reason) for fault in found.faults]
    value = found.fields[key].value if key in found.fields else ""
    return one_line(value if isinstance(value, str) else ", ".join(value))
