"""The last lines that a run printed, safe to show to people and other agents: cleaned, masked, few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.redact import LineMask, redacted_lines
from orchestrator.formats.secret_values import without_values
from orchestrator.formats.terminal import readable
from orchestrator.formats.text import cut
from orchestrator.hosts.launcher import PANE_LOG
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from orchestrator.ports.files import Files

LINES: Final = 12
LENGTH: Final = 200
"""How many lines are returned, and how many characters of each."""

_BYTES: Final = 32_768


def last_lines(files: Files, folder: Path, hidden: Collection[str] = ()) -> tuple[str, ...]:
    """Return the last lines in the log of a run's terminal that are not empty; none if there is no log.

    `hidden` are texts that are masked wherever they stand.
    """
    log = folder / PANE_LOG
    entry = files.entry(log)
    if entry is None or not entry.is_file:
        return ()
    try:
        data = files.read(log, start=max(entry.size - _BYTES, 0))
    except Unreadable:
        return ()
    text = data.decode(errors="replace")
    shown = [line for line in map(readable, text.split("\n")) if line.strip()]
    safe = (without_values(line, hidden) for line in redacted_lines(shown, LineMask()))
    return tuple(cut(line, LENGTH) for line in safe)[-LINES:]
