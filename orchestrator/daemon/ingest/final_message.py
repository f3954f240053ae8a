"""The last words of an agent that may not write files: where they are its report, they become its handoff (H8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.handoff import handoff_name, read_decision, read_report
from orchestrator.model.errors import BadFile

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.run import Run
    from orchestrator.ports.files import Files

TRIES: Final = 60
"""How many seconds further on a free name is looked for."""

PM: Final = "pm"
_NONE: Final = "-"
_HEADING: Final = "# Handoff:"


def last_words(files: Files, folder: Path, run: Run, said: str, at: float, *, decides: bool = False) -> str:
    """Write a report into `handoffs/` under the next free name, and return that; empty if `said` is no report of `run`.

    `decides`: what it is to hand in is a decision of the PM agent.

    Raises:
        OSError: it could not be written.

    """
    start = said.find(_HEADING)
    if start < 0:
        return ""
    data = _unfenced(said[start:]).encode("utf-8", "replace")
    if _run_of(data, decides=decides) not in {None, "", run.id}:
        return ""
    for second in range(TRIES):
        name = handoff_name(PM if decides else run.instance, at + second)
        if files.create(folder / name, data, 0o644, durable=False):
            return name
    return ""


def _run_of(data: bytes, *, decides: bool) -> str | None:
    """Return the run that a handoff names; one that can be of no run if it does not read."""
    try:
        if decides:
            return read_decision(data, "the last message").run
        return read_report(data, "the last message").run
    except BadFile:
        return _NONE


def _unfenced(text: str) -> str:
    """Return a text without the closing fence of the block that it may have stood in."""
    stripped = text.rstrip()
    return stripped.removesuffix("```").rstrip() + "\n" if stripped.count("```") % 2 else stripped + "\n"
