"""How agent programs are launched: one file per program, one contract (design, section 8).

A runtime turns an agent's definition and its order into an argument vector and an environment. It starts
nothing itself: the host does, through the run's own launcher.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from orchestrator.model.agents import Agent


class Runtime(Protocol):
    """One agent program. All methods are pure."""

    @property
    def name(self) -> str:
        """The name by which a definition or task.md asks for it."""
        ...

    def listens(self, agent: Agent) -> bool:
        """Tell whether a line typed into its pane reaches it as a message."""
        ...

    @property
    def stays_at_prompt(self) -> bool:
        """Whether it waits for more when its turn is over, instead of exiting."""
        ...

    def argv(self, agent: Agent, order: Path, prompt: str) -> tuple[str, ...]:
        """Return the argument vector, the program first.

        Args:
            agent: the definition.
            order: the run's order.md, for a program that reads it.
            prompt: its text, for a program that takes it as a launch argument.

        Raises:
            Refused: the definition lacks what this program needs.

        """
        ...

    def environment(self, agent: Agent) -> dict[str, str]:
        """Return what this program needs beside the variables that every run gets."""
        ...
