"""The last message of an agent that may not write files: if it is its report, it becomes its handoff (H8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.handoff import handoff_name, read_any_report, read_decision
from orchestrator.formats.handoff_format import HANDOFF_FORMATS
from orchestrator.model.errors import BadFile
from orchestrator.model.task import MARKDOWN

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.run import Run
    from orchestrator.ports.files import Files

TRIES: Final = 60
"""How many seconds ahead a free name is looked for."""

PM: Final = "pm"
_NONE: Final = "-"


def last_words(
    files: Files,
    folder: Path,
    run: Run,
    text: str,
    at: float,
    *,
    handoff_format: str = MARKDOWN,
    decides: bool = False,
) -> str:
    """Write a report of `run` into `handoffs/` under the next free name. Return the name; empty if `text` is none.

    `handoff_format` is the format in which its report was asked for. `decides`: it must hand in a decision of the PM
    agent, which is always markdown.

    Raises:
        OSError: it could not be written.

    """
    handoffs = HANDOFF_FORMATS[MARKDOWN if decides else handoff_format]
    data = handoffs.within(text).encode("utf-8", "replace")
    if not data or _run_of(data, handoffs.suffix, decides=decides) not in {None, "", run.id}:
        return ""
    for second in range(TRIES):
        name = handoff_name(PM if decides else run.instance, at + second, handoffs.suffix)
        if files.create(folder / name, data, 0o644, durable=False):
            return name
    return ""


def _run_of(data: bytes, suffix: str, *, decides: bool) -> str | None:
    """Return the run that a handoff names; a name that no run has if it cannot be parsed."""
    try:
        if decides:
            return read_decision(data, "the last message").run
        return read_any_report(data, f"the last message{suffix}").run
    except BadFile:
        return _NONE
