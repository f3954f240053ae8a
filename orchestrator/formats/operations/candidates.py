"""Finds the JSON objects with `file_operations` in an agent's text: in any fence, or in none (F1).

A line break never stands in a string of JSON, so fences need no reading of their own: an object begins at its brace and
ends at the matching one, whatever stands around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from orchestrator.formats.strict_json import load_json
from orchestrator.model.errors import BadFile

TEXT_BYTES: Final = 67_108_864
"""How many bytes an agent's text may have."""

KEY: Final = "file_operations"
_START: Final = re.compile(r'\{\s*"')
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z)|[{\[]|[}\]]', re.DOTALL)
_READ_AGAIN: Final = 4
"""How often, on average, a character may be read while looking for objects: text of others must not cost squares."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece of text that names `file_operations`: where it begins (line 1 is the first), and its value or fault.

    It is `text[begin:end]`; `end` is 0 where it is cut off.
    """

    line: int
    value: dict[str, Any] | None
    fault: str = ""
    begin: int = 0
    end: int = 0


def candidates(text: str) -> list[Candidate]:
    """Return the objects of a text that have `file_operations`, and the pieces that fail to be such an object.

    An object inside another one is not a candidate of its own, except if the outer one does not read.
    """
    found, at, budget = list[Candidate](), 0, _READ_AGAIN * len(text)
    while KEY in text and (start := _START.search(text, at)):
        begin = start.start()
        end = _end(text, begin)
        budget -= (end or len(text)) - begin
        if budget < 0:
            found.append(Candidate(_line(text, begin), None, "holds too many braces that do not match"))
            break
        candidate = _read(text, begin, end)
        if candidate is not None and (candidate.value is not None or f'"{KEY}"' in text[begin : end or None]):
            found.append(candidate)
        at = end if end and (candidate is None or candidate.value is not None) else begin + 1
    whole = [each for each in found if each.value is not None]
    return whole or found


def _read(text: str, begin: int, end: int) -> Candidate | None:
    """Return what begins at a brace; None for an object about something else."""
    line = _line(text, begin)
    if not end:
        return Candidate(
            line, None, f"the JSON that begins in line {line} is cut off: a bracket is not closed"
        )
    try:
        value = load_json(text[begin:end].encode("utf-8", "replace"), "JSON", TEXT_BYTES)
    except BadFile as error:
        fault = error.faults[0]
        where = line + max(fault.line, 1) - 1
        return Candidate(line, None, f"line {where} {fault.reason}")
    return Candidate(line, value, "", begin, end) if isinstance(value, dict) and KEY in value else None


def _end(text: str, begin: int) -> int:
    """Return where the bracket at `begin` closes, or 0 if it does not."""
    depth = 0
    for token in _TOKEN.finditer(text, begin):
        depth += token[0] in "{["
        depth -= token[0] in "}]"
        if not depth:
            return token.end()
    return 0


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
