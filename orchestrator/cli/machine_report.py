"""What `task doctor` found on this machine, as raw values; `diagnosis` turns them into findings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from orchestrator.extensions import Extension
from orchestrator.model.environment import PASSED
from orchestrator.runtimes.cli_inventory import AgentCli
from orchestrator.workspaces.filters import WantedFilter
from orchestrator.workspaces.locks import Lock

_NUMBERS: Final = re.compile(r"(\d+(?:\.\d+)+)")


@dataclass(frozen=True, slots=True)
class VersionReply:
    """The answer of a program on the agents' `PATH` to the question for its version; or why there is none."""

    name: str
    path: str = ""
    said: str = ""
    fault: str = ""

    @property
    def version(self) -> str:
        """The version's numbers, or an empty string."""
        found = _NUMBERS.search(self.said)
        return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class CliReport:
    """An agent CLI as an agent would find it.

    `held_back` are variables that would log it in, but that the settings do not pass; `unheard` those that pass, but
    that the running daemon was started without. `driven`: there is a runtime for it.
    """

    cli: AgentCli
    asked: VersionReply
    logins: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()
    driven: bool = True


@dataclass(frozen=True, slots=True)
class RuntimeReport:
    """A runtime that the settings define. `word` is its program, `path` where an agent would find that.

    `placed`: the word is filled in for each run, so it cannot be looked up before one. `signals` names the source of
    its turns. The program is not asked for its version: nobody knows what it would do with an unknown option.
    """

    name: str
    word: str
    signals: str
    path: str = ""
    placed: bool = False


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that a task needs; `fault` says why it is unusable, `room` (bytes) and `inodes` what is free there."""

    what: str
    path: str
    fault: str = ""
    room: int | None = None
    inodes: int | None = None


@dataclass(frozen=True, slots=True)
class MachineReport:
    """All that was examined. Unknown values are None or empty."""

    clis: tuple[CliReport, ...] = ()
    own: tuple[RuntimeReport, ...] = ()
    programs: dict[str, VersionReply] = field(default_factory=dict)
    folders: tuple[Folder, ...] = ()
    repository: bool = True
    locks: tuple[Lock, ...] = ()
    project: str = ""
    filters: tuple[WantedFilter, ...] = ()
    tmux_fault: str = ""
    settings_fault: str = ""
    extensions: tuple[Extension, ...] = ()
    settings_file: str = ""
    extras_missing: tuple[str, ...] = ()
    """Extras that settings of `[observer]` need, and that are not installed."""

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
