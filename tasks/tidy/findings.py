"""What ruff found, and the counts that every decision here rests on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeGuard

from errors import LinterError

SYNTAX = "invalid-syntax"
UNREADABLE = "E902"

Counts = Counter[tuple[str, str]]
"""How many findings a (path, code) has."""


class Safety(StrEnum):
    """What ruff says of a fix."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True)
class Edit:
    """Text to put between two places; rows and columns count from 1, columns in characters."""

    start: tuple[int, int]
    end: tuple[int, int]
    content: str


@dataclass(frozen=True)
class Fix:
    """The edits that take one finding away."""

    safety: Safety
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Finding:
    """One thing that ruff found in one place."""

    path: str
    code: str
    name: str
    message: str
    row: int
    fix: Fix | None = None


def parse(output: str, root: Path) -> list[Finding]:
    """Read ruff's JSON.

    Args:
        output: What `ruff check --output-format json` printed.
        root: The folder that paths are told relative to; findings outside of it are not taken.

    Raises:
        LinterError: it is not the JSON that ruff prints.
    """
    try:
        rows = json.loads(output or "[]")
        found = [_finding(row, root) for row in rows]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise LinterError(
            f"Ruff's answer was not understood ({error!r}): is it ruff 0.5 or newer?"
        ) from error
    return [finding for finding in found if finding is not None]


def _finding(row: Mapping[str, object], root: Path) -> Finding | None:
    path = Path(str(row["filename"]))
    if not path.is_relative_to(root):
        return None
    code = str(row["code"] or SYNTAX)
    return Finding(
        path=path.relative_to(root).as_posix(),
        code=code,
        name=str(row.get("name") or code),
        message=str(row["message"]),
        row=_place(row["location"])[0],
        fix=_fix(row.get("fix")),
    )


def _fix(fix: object) -> Fix | None:
    """A fix that ruff would apply; one that it only displays is none."""
    if not _is_object(fix) or fix.get("applicability") not in set(Safety):
        return None
    edits = fix["edits"]
    if not isinstance(edits, list):
        raise TypeError("edits")
    return Fix(
        Safety(str(fix["applicability"])),
        tuple(
            Edit(_place(edit["location"]), _place(edit["end_location"]), str(edit["content"] or ""))
            for edit in edits
        ),
    )


def _place(place: object) -> tuple[int, int]:
    # A finding about a whole file stands nowhere.
    return (int(str(place["row"])), int(str(place["column"]))) if _is_object(place) else (1, 1)


def _is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, dict)


def counted(findings: Iterable[Finding]) -> Counts:
    """How many findings each (path, code) has."""
    return Counter((finding.path, finding.code) for finding in findings)


def by_code(counts: Counts) -> Counter[str]:
    """How many findings each rule has."""
    total: Counter[str] = Counter()
    for (_, code), number in counts.items():
        total[code] += number
    return total


def by_path(counts: Counts) -> Counter[str]:
    """How many findings each file has."""
    total: Counter[str] = Counter()
    for (path, _), number in counts.items():
        total[path] += number
    return total


def of(counts: Counts, codes: Iterable[str], paths: Iterable[str]) -> int:
    """How many findings of these rules are in these files."""
    wanted, where = set(codes), set(paths)
    return sum(number for (path, code), number in counts.items() if code in wanted and path in where)


def risen(before: Counts, after: Counts) -> dict[str, tuple[int, int]]:
    """The files that have more findings than before: path to the two numbers."""
    then, now = by_path(before), by_path(after)
    return {path: (then[path], now[path]) for path in sorted(now) if now[path] > then[path]}
