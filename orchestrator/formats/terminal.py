"""What a program printed to a terminal, as lines of plain text."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.formats.text import one_line

_SEQUENCES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, moves
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS and their like, with all that they carry
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)


def without_sequences(line: str) -> str:
    """Return a line as a terminal would leave it: without escape sequences, after its last carriage return."""
    text = _SEQUENCES.sub("", line).rstrip("\r")
    return text.rpartition("\r")[2]


def readable(line: str) -> str:
    """Return a line of a terminal's log as one line of harmless text."""
    text = without_sequences(line)
    indent = len(text) - len(text.lstrip(" "))
    return " " * min(indent, 16) + one_line(text)
