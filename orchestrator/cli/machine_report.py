"""What `task doctor` saw of this machine, as it was found; `diagnosis` says what that means."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from orchestrator.extensions import Extension
from orchestrator.model.settings import PASSED
from orchestrator.runtimes.cli_inventory import AgentCli
from orchestrator.workspaces.locks import Lock

_NUMBERS: Final = re.compile(r"(\d+(?:\.\d+)+)")


@dataclass(frozen=True, slots=True)
class VersionReply:
    """A program that was looked for on the agents' `PATH` and asked its version: what it said, or why it did not."""

    name: str
    path: str = ""
    said: str = ""
    fault: str = ""

    @property
    def version(self) -> str:
        """The version's numbers as it said them, or an empty string."""
        found = _NUMBERS.search(self.said)
        return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class CliReport:
    """An agent CLI as an agent would find it.

    `held_back` are variables that would log it in, and that the settings do not let through; `unheard` those that
    pass, but that the running daemon was started without. `driven`: there is a runtime for it.
    """

    cli: AgentCli
    asked: VersionReply
    logins: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()
    driven: bool = True


@dataclass(frozen=True, slots=True)
class RuntimeReport:
    """A runtime that the settings define. `word` is what it begins with, `path` where an agent would find that.

    `placed` says that the word is filled in for each run, so that nobody can look for it ahead of one. `signals` says
    what tells of its turns. It is asked nothing: what it would do with a question nobody knows.
    """

    name: str
    word: str
    signals: str
    path: str = ""
    placed: bool = False


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that a task needs; `fault` says why it cannot be used, `room` and `inodes` what is free there."""

    what: str
    path: str
    fault: str = ""
    room: int | None = None
    inodes: int | None = None


@dataclass(frozen=True, slots=True)
class MachineReport:
    """All that was seen. What could not be found out is None, or empty."""

    clis: tuple[CliReport, ...] = ()
    own: tuple[RuntimeReport, ...] = ()
    programs: dict[str, VersionReply] = field(default_factory=dict)
    folders: tuple[Folder, ...] = ()
    repository: bool = True
    locks: tuple[Lock, ...] = ()
    tmux_fault: str = ""
    settings_fault: str = ""
    extensions: tuple[Extension, ...] = ()
    settings_file: str = ""
    passed: tuple[str, ...] = PASSED
    late_clock: float = 0.0
    synchronised: bool | None = None
    limits: dict[str, int] = field(default_factory=dict)
    daemon_up: bool = False
    daemon_silent: float | None = None
    daemon_version: str | None = None
    version: str = ""
    manager: str = ""
    survives_logout: bool | None = None
