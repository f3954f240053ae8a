"""Agent programs that the user's settings define: `[runtimes.NAME]`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

SHIPPED: Final = ("auto", "command", "claude", "codex", "gemini", "opencode", "kiro", "aider")
"""Names of runtimes that the settings cannot give to others."""

PLACES: Final = ("prompt", "order", "session", "folder", "workspace", "granted", "model")
"""What `{…}` in a word can stand for."""

PLACE: Final = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Program:
    """`[runtimes.NAME]`: one agent program."""

    name: str
    """What `runtime:` of task.md calls it."""

    command: tuple[str, ...]
    """The command as a list of words; no shell reads it. One of them holds `{prompt}` or `{order}`."""

    resume: tuple[str, ...] = ()
    """The command that resumes a conversation. It holds `{session}` and needs `events`."""

    environment: tuple[tuple[str, str], ...] = ()
    """Variables that the program gets, with their values."""

    variables: tuple[str, ...] = ()
    """Names of the user's own variables that reach this program besides those of `environment.pass`."""

    events: str = ""
    """The shipped runtime whose hooks the program speaks. Without it only its report and its exit count."""

    screens: str = ""
    """File with rules that recognise the program's dialogs on its screen."""
