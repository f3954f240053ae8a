"""A finding about this machine or a box: how severe it is, what to do about it, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.cli.screen import harmless, paint, wrapped


class Severity(StrEnum):
    """How severe a finding is; only `missing` keeps a task from running."""

    OK = "ok"
    NOTE = "note"
    WARN = "warn"
    MISSING = "missing"


_COLOURS: Final = {
    Severity.OK: "green",
    Severity.NOTE: "dim",
    Severity.WARN: "yellow",
    Severity.MISSING: "red",
}
_WIDTH: Final = max(map(len, Severity))


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding, and how to repair it, if necessary. `topic` is empty if a heading names it already."""

    topic: str
    severity: Severity
    text: str
    fix: str = ""

    def lines(self, width: int, *, colour: bool) -> list[str]:
        """Return the lines to show; a command to type is on a line of its own, unwrapped."""
        mark = f"{self.severity.value:{_WIDTH}}"
        said = f"{self.topic}: {self.text}" if self.topic else self.text
        first, *rest = wrapped(said, width, " " * (_WIDTH + 2)) or [" " * _WIDTH]
        lines = [(paint(mark, _COLOURS[self.severity]) if colour else mark) + first[_WIDTH:], *rest]
        return lines + [
            f"{' ' * (_WIDTH + 2)}{'> ' if not n else '  '}{harmless(line)}"
            for n, line in enumerate(self.fix.splitlines())
        ]

    def shape(self) -> dict[str, str]:
        """Return its entry in JSON documents."""
        return {
            "topic": self.topic,
            "severity": self.severity.value,
            "text": self.text,
            "fix": self.fix,
        }


def can_run(found: Iterable[Finding]) -> bool:
    """Return whether a task could run."""
    return all(each.severity is not Severity.MISSING for each in found)
