"""Handoff formats: how a report is written and read. A file's suffix determines its format.

Markdown (H6) and `coordination` (C1) are built in. Installed packages add others under the entry point group
`agent_orchestrator.formats`; `handoffs:` of task.md names the one that agents shall write. Orders are always markdown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

from orchestrator.formats.text import FILE_BYTES, PROSE_LENGTH, neutral
from orchestrator.model.errors import BadFile, BadName, Fault
from orchestrator.model.handoff import CriterionMark, Report, Subtask
from orchestrator.model.names import checked_name
from orchestrator.model.registry import Registry
from orchestrator.model.task import COORDINATION, MARKDOWN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_SUFFIX: Final = re.compile(r"\.[a-z0-9]{1,8}")


@dataclass(frozen=True, slots=True)
class ReportForm:
    """What the report of one run must contain. `criteria` are those to mark, None if there are none to mark.

    `sections` is what gates of installed packages ask for, in their own words. `hands_on`: its agent hands on to the
    next role.
    """

    agent: str
    run: str
    order: str
    verdict: bool = False
    unchanged: bool = False
    subtasks: bool = False
    criteria: tuple[str, ...] | None = None
    sections: str = ""
    hands_on: bool = False


class HandoffFormat(Protocol):
    """One way to write a report: a module or an object with these pure functions."""

    @property
    def suffix(self) -> str:
        """The suffix of such a file: a dot and up to eight lower-case letters or digits."""
        ...

    def read(self, data: bytes, name: str, limit: int, sections: Collection[str]) -> Report:
        """Return the report in a file; `sections` are the titles of further sections that gates read.

        Raises:
            BadFile: with every fault and its line, so that the agent can correct them.

        """
        ...

    def write(self, agent: str, at: float, report: Report) -> bytes:
        """Return a report as a file of this format; `read` returns the same report."""
        ...

    def form(self, wanted: ReportForm) -> str:
        """Return the empty form of a report for an order: a fenced block."""
        ...

    def within(self, message: str) -> str:
        """Return the report within an agent's last message as a file; empty if there is none."""
        ...


def _markdown() -> HandoffFormat:
    from orchestrator.formats import markdown_report

    return markdown_report


def _coordination() -> HandoffFormat:
    from orchestrator.formats.coordination import json_report

    return json_report


HANDOFF_FORMATS: Final = Registry[HandoffFormat](
    "handoff format", {MARKDOWN: _markdown, COORDINATION: _coordination}
)


def suffixes() -> tuple[str, ...]:
    """Return the suffixes of all installed formats."""
    return tuple(_by_suffix(tuple(HANDOFF_FORMATS)))


def format_of(name: str) -> HandoffFormat:
    """Return the format for a file's suffix; markdown if the suffix is unknown."""
    suffix = f".{name.rpartition('.')[2]}"
    return HANDOFF_FORMATS[_by_suffix(tuple(HANDOFF_FORMATS)).get(suffix, MARKDOWN)]


def read_any_report(
    data: bytes, name: str, limit: int = FILE_BYTES, sections: Collection[str] = ()
) -> Report:
    """Return the report in a file, in the format that its name indicates.

    Installed packages are not trusted: whatever their reader returns or raises, the report is valid.

    Raises:
        BadFile: with every fault, in that format's words.

    """
    handoffs = format_of(name)
    if handoffs is HANDOFF_FORMATS[MARKDOWN]:
        return handoffs.read(data, name, limit, sections)
    try:
        report = handoffs.read(data, name, limit, sections)
        faults = list(_faults_in(report))
    except BadFile:
        raise
    except Exception as problem:  # noqa: BLE001 (a stranger's code, on an agent's file)
        faults = [Fault(0, f"cannot be read: {type(problem).__name__}: {ascii(problem)[:200]}")]
    if faults:
        raise BadFile(name, faults)
    return report


def _faults_in(report: Report) -> Iterator[Fault]:
    """Yield what no format may let through: a report names files and steps, and is written into the journal."""
    if not isinstance(report, Report):
        raise TypeError("the reader did not return a report")
    for text in _texts_in(report):
        if len(text) > PROSE_LENGTH:
            yield Fault(0, f"a text is longer than {PROSE_LENGTH} characters")
        if any("\ud800" <= sign <= "\udfff" for sign in text):
            yield Fault(0, f"{text[:40]!a} is not Unicode text")
    for path in report.artifacts:
        if neutral(path) != path or "\n" in path:
            yield Fault(0, f"the path {path[:40]!a} holds a control character")
    for subtask in report.subtasks or ():
        for name in (subtask.id, subtask.agent, *subtask.needs):
            try:
                checked_name(name, "name of a subtask or an agent")
            except BadName as problem:
                yield Fault(0, str(problem))


def _texts_in(value: object) -> Iterator[str]:
    """Yield all texts in a report. Raises TypeError for values of another type."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _texts_in(each)
    elif isinstance(value, (Report, Subtask, CriterionMark)):
        for each in fields(value):
            yield from _texts_in(getattr(value, each.name))
    elif not (value is None or isinstance(value, bool)):
        raise TypeError(f"a report cannot hold {type(value).__name__}")


@lru_cache(maxsize=8)
def _by_suffix(names: tuple[str, ...]) -> dict[str, str]:
    """Return the format of each suffix. If two formats claim one suffix, the first wins; built-in ones come first."""
    found: dict[str, str] = {}
    for name in names:
        suffix = HANDOFF_FORMATS[name].suffix
        if _SUFFIX.fullmatch(suffix):
            found.setdefault(suffix, name)
    return found
