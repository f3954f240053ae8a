"""Which of the user's variables reach an agent: from the running daemon, or one that would be started here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.runtimes.cli_inventory import AgentCli
from orchestrator.runtimes.environment import passed
from orchestrator.runtimes.registry import RUNTIMES


@dataclass(frozen=True, slots=True)
class AgentEnvironment:
    """This process's environment, the daemon's, and the names of the settings' `environment.pass`."""

    environ: Mapping[str, str]
    daemons: Mapping[str, str]
    names: tuple[str, ...]

    def names_for(self, cli: AgentCli) -> tuple[str, ...]:
        """Return the names of the variables that an agent of this CLI gets, including those of its runtime."""
        runtime = RUNTIMES.get(cli.name)
        return (*self.names, *(runtime.variables if runtime else ()))

    def of_agent(self, cli: AgentCli) -> dict[str, str]:
        """Return the environment of an agent of this CLI."""
        return passed(self.daemons, self.names_for(cli))


def environment_of(pid: int) -> dict[str, str] | None:
    """Return the environment that a process was started with; None if it cannot be read."""
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    pairs = (os.fsdecode(each).partition("=") for each in data.split(b"\0") if b"=" in each)
    return {name: value for name, _, value in pairs}
