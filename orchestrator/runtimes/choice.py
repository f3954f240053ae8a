"""Which runtime an agent gets."""

from __future__ import annotations

from typing import Final

from orchestrator.model.agents import Agent
from orchestrator.model.errors import Refused
from orchestrator.runtimes import Runtime
from orchestrator.runtimes.aider import Aider
from orchestrator.runtimes.claude import Claude
from orchestrator.runtimes.codex import Codex
from orchestrator.runtimes.command import Command
from orchestrator.runtimes.gemini import Gemini
from orchestrator.runtimes.opencode import Opencode

RUNTIMES: Final[dict[str, Runtime]] = {
    runtime.name: runtime for runtime in (Command(), Claude(), Codex(), Gemini(), Opencode(), Aider())
}


def runtime_of(agent: Agent) -> Runtime:
    """Return the runtime that the definition names; `auto` is `command` for an agent that has one.

    Raises:
        Refused: there is no such runtime, or `auto` finds none.

    """
    name = agent.runtime
    if name == "auto" and agent.command:
        name = Command.name
    if name in RUNTIMES:
        return RUNTIMES[name]
    known = ", ".join(RUNTIMES)
    if name == "auto":
        raise Refused(
            f"agent {agent.name} names no runtime and no command, and no agent CLI was found (`task doctor` says "
            f"how to get one): write `{agent.name}.command: …` or `{agent.name}.runtime: …` ({known}) under Agent "
            "Config of task.md"
        )
    raise Refused(f"agent {agent.name} asks for the runtime {name[:40]!a}: there is {known}")
