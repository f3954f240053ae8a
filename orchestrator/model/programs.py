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
    """One agent program. `command` and `resume` are argument vectors; the latter goes on with a conversation.

    `environment` are variables that it gets, `variables` the names of the user's own that pass to it besides those that
    pass to all. `events` names the runtime whose hooks it speaks, or is empty; `screens` the file of its screen rules.
    """

    name: str
    command: tuple[str, ...]
    resume: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    variables: tuple[str, ...] = ()
    events: str = ""
    screens: str = ""
