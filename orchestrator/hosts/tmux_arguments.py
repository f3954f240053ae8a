"""Checked arguments for tmux. Nothing from outside ever reaches it as a format, a target or a command.

Targets are pane ids and `=name` of checked names; texts are passed as values, or in hexadecimal.
"""

from __future__ import annotations

import re
from typing import Final

from orchestrator.model.errors import Refused

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,127}")
_RUN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_PANE: Final = re.compile(r"%[0-9]{1,9}")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_CONTROL_BUT_LINES: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def checked_target(name: str) -> str:
    """Return a session's or window's name if it is one of ours: lower case, digits, `-`, `_`, at most 128.

    Raises:
        Refused: it is not; tmux might interpret it.

    """
    if not _NAME.fullmatch(name):
        raise Refused(f"{name[:40]!a} cannot name a tmux session or window: use a-z, 0-9, '_' and '-'")
    return name


def checked_run(run: str) -> str:
    """Return a run's id if it is valid: letters, digits, `-`, `_`, at most 128. Raises Refused."""
    if not _RUN.fullmatch(run):
        raise Refused(f"{run[:40]!a} cannot be the id of a run: use letters, digits, '_' and '-'")
    return run


def checked_pane(pane: str) -> str:
    """Return a pane's id if it is valid (`%12`). Raises Refused."""
    if not _PANE.fullmatch(pane):
        raise Refused(f"{pane[:40]!a} is not a pane of tmux: they are called %0, %1, …")
    return pane


def word(text: str) -> str:
    """Return a text so that tmux takes it as one word of a command: a final `;` would begin the next one."""
    return f"{text[:-1]}\\;" if text.endswith(";") else text


def neutral(text: str) -> str:
    """Return a text safe for a status line: no control characters, and `#` doubled, which shows as one `#`."""
    return _CONTROL.sub("", text).replace("#", "##")


def shown(text: str) -> str:
    """Return lines from a pane without control characters."""
    return _CONTROL_BUT_LINES.sub("", text)


def typed(text: str, most: int) -> str:
    """Return one line of at most `most` characters as words of `send-keys -H`: tmux interprets no byte of it.

    Raises:
        Refused: the text is longer, or contains control characters or line breaks.

    """
    if len(text) > most:
        raise Refused(
            f"a typed line of {len(text)} characters is too long: at most {most}; put it into a file"
        )
    if found := _CONTROL.search(text):
        raise Refused(f"a typed line cannot contain {found.group()!a} (character {found.start() + 1})")
    return " ".join(f"{byte:02x}" for byte in text.encode())


def all_of(*conditions: str) -> str:
    """Return a tmux format that is true when all of the conditions are."""
    joined, *others = conditions
    for condition in others:
        joined = f"#{{&&:{joined},{condition}}}"
    return joined
