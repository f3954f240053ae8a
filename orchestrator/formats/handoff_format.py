"""Handoff formats: how a report is written and read. Which one a file has, its suffix tells.

Markdown ships (HUB 4.3). Installed packages bring others under the entry point group `agent_orchestrator.formats`;
`handoffs:` of task.md names the one that agents are asked to write. Orders are markdown in any case.
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
from orchestrator.model.task import MARKDOWN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_SUFFIX: Final = re.compile(r"\.[a-z0-9]{1,8}")


@dataclass(frozen=True, slots=True)
class ReportForm:
    """What the report of one run has to say. `criteria` are those to be marked, None if it marks none.

    `sections` is what gates of installed packages ask for, in their own words.
    """

    agent: str
    run: str
    order: str
    verdict: bool = False
    unchanged: bool = False
    subtasks: bool = False
    criteria: tuple[str, ...] | None = None
    sections: str = ""


class HandoffFormat(Protocol):
    """One way to write a report: a module or an object with these functions. All of it is pure."""

    @property
    def suffix(self) -> str:
        """How the name of such a file ends: a dot and up to eight lower-case letters or digits."""
        ...

    def read(self, data: bytes, name: str, limit: int, sections: Collection[str]) -> Report:
        """Return the report that a file is; `sections` are the titles of what gates read beyond the usual.

        Raises:
            BadFile: with every fault and its line, as the agent is asked to mend them.

        """
        ...

    def write(self, agent: str, at: float, report: Report) -> bytes:
        """Return a report as a file of this format; `read` gives the same report back."""
        ...

    def form(self, wanted: ReportForm) -> str:
        """Return the form of a report as its agent reads it in the order, in a fenced block."""
        ...

    def within(self, message: str) -> str:
        """Return the report that an agent's last message holds, as a file; empty if it holds none."""
        ...


def _markdown() -> HandoffFormat:
    from orchestrator.formats import markdown_report

    return markdown_report


HANDOFF_FORMATS: Final = Registry[HandoffFormat]("handoff format", {MARKDOWN: _markdown})


def suffixes() -> tuple[str, ...]:
    """Return the suffixes of all formats that are installed."""
    return tuple(_by_suffix(tuple(HANDOFF_FORMATS)))


def format_of(name: str) -> HandoffFormat:
    """Return the format that a file's name tells; markdown where it tells none."""
    suffix = f".{name.rpartition('.')[2]}"
    return HANDOFF_FORMATS[_by_suffix(tuple(HANDOFF_FORMATS)).get(suffix, MARKDOWN)]


def read_any_report(
    data: bytes, name: str, limit: int = FILE_BYTES, sections: Collection[str] = ()
) -> Report:
    """Return the report that a file is, by the format that its name tells.

    What comes from an installed package is not believed: whatever its reader gives or raises, the report is sound.

    Raises:
        BadFile: with every fault, as that format says them.

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
    """Say what of a report no format may let through: it names files and steps, and is written into the journal."""
    if not isinstance(report, Report):
        raise TypeError("what was read is no report")
    for text in _texts_in(report):
        if len(text) > PROSE_LENGTH:
            yield Fault(0, f"a text is longer than {PROSE_LENGTH} characters")
        if any("\ud800" <= sign <= "\udfff" for sign in text):
            yield Fault(0, f"{text[:40]!a} is no Unicode text")
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
    """Go through all texts in a report. Raises TypeError where something else stands."""
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
    """Return the format of each suffix. Of two formats that claim one suffix, the first has it; what ships is first."""
    found: dict[str, str] = {}
    for name in names:
        suffix = HANDOFF_FORMATS[name].suffix
        if _SUFFIX.fullmatch(suffix):
            found.setdefault(suffix, name)
    return found
