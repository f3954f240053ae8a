"""The last lines that a check printed, without what differs from run to run: times, places, and how much passed.

What is left tells whether two runs failed in the same way. It keeps names and numbers of failures, messages and line
numbers: where in doubt, two runs differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_SPAN: Final = r"\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|secs?|seconds?|min|minutes?|h)\b"
_PASSED: Final = "|".join(
    (
        *("passed", "passing", "passes", "skipped", "ignored", "xfailed", "deselected"),
        *("warnings?", "total", "measured", "filtered out", "pending", "todo"),
    )
)
_CHANGING: Final = (
    # Moments, and spans where programs tell how long they took.
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "#"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "#"),
    (re.compile(rf"(\b(?:in|took|time|elapsed|duration)\b:?\s+|[(\[=\t]\s*){_SPAN}", re.IGNORECASE), r"\1#"),
    (re.compile(rf"\s{_SPAN}$"), " #"),
    (re.compile(r"(\bduration_ms )[\d.]+"), r"\1#"),
    # Places: trees of a task, temporary folders, memory.
    (re.compile(r"(/worktrees/[^/\s'\"]+/)[^/\s'\":,)]+"), r"\1#"),
    (re.compile(r"((?:/var)?/tmp/)[^/\s'\":,)]+"), r"\1#"),
    (re.compile(r"\bpytest-\d+\b"), "pytest-#"),
    (re.compile(r"\b0x[0-9a-fA-F]{6,}\b"), "#"),
    # What passed, which the work may add to.
    (re.compile(rf"\b\d+ (?=(?:{_PASSED})\b)"), "# "),
    (re.compile(r"\b(Ran) \d+ tests?\b"), r"\1 # tests"),
    (re.compile(r"\b\d+ examples?(?=,)"), "# examples"),
    (re.compile(r"\b(Tests|Assertions): \d+(?=,)"), r"\1: #"),
    (re.compile(r"^(# (?:tests|suites|pass|skipped|todo)) \d+$"), r"\1 #"),
    (re.compile(r"\b\d+% tests passed"), "# tests passed"),
    (re.compile(r"\bout of \d+"), "out of #"),
    # Rulers, as wide as the rest of their line allows.
    (re.compile(r"([=_~*-])\1{2,}"), r"\1\1\1"),
)
_PROGRESS: Final = re.compile(r"[.FEsxXu]+(?:\s+\[\s*\d+%\])?")
_FAILURES: Final = re.compile(r"[FEXu]")


def failed_alike(before: Iterable[str], now: Iterable[str]) -> bool:
    """Return whether two runs that failed have printed the same in the end; False if one has printed nothing."""
    old, new = _lasting(before), _lasting(now)
    return bool(old) and old == new


def _lasting(lines: Iterable[str]) -> list[str]:
    return [kept for line in lines if (kept := _without_changing(line.strip()))]


def _without_changing(line: str) -> str:
    if _PROGRESS.fullmatch(line):
        return "".join(_FAILURES.findall(line))
    for pattern, left in _CHANGING:
        line = pattern.sub(left, line)
    return " ".join(line.split())
