"""Runtime `command`: anything executable. It finds its order in its environment and writes a report."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from orchestrator.model.agents import Agent
from orchestrator.model.errors import Refused


class Command:
    """Runs the definition's own `command` as it stands: no shell, nothing appended, nothing replaced."""

    name: Final = "command"
    stays_at_prompt: Final = False

    def listens(self, agent: Agent) -> bool:
        """Tell whether the program reads lines from its terminal: only whoever named it knows."""
        return agent.listens

    def argv(self, agent: Agent, order: Path, prompt: str) -> tuple[str, ...]:
        """Return the agent's `command`.

        Raises:
            Refused: the definition has none.

        """
        if not agent.command:
            raise Refused(
                f"agent {agent.name} has no command to run: write `{agent.name}.command: …` under Agent Config"
            )
        return agent.command

    def environment(self, agent: Agent) -> dict[str, str]:
        """Return nothing: the variables of every run are enough."""
        return {}
