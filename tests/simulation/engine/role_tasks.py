"""A task of the user on which five roles work, each handing on to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from orchestrator.pm.plan.families.roles import AGENTS
from tests.simulation.engine.shared_state import CHECK
from tests.simulation.engine.user_task import UserTask

NAMES: Final = ("rho", "sigma")
"""The names of such tasks: by them an agent of the simulation knows how to hand in."""

LOOSE: Final = ("dev", "explore", "review")
"""Agents that may work beside them: the user spawns them, and a report may ask for a review."""


@dataclass(frozen=True)
class RoleTask(UserTask):
    """A task of the family `roles`. checks: the daemon tests what the auditor is handed."""

    def brief(self, goal: str, criteria: tuple[str, ...]) -> str:
        """Return task.md."""
        lines = ["family: roles", f"workspace: {self.workspace}"]
        lines += [f"{agent}.command: {agent}" for agent in (*AGENTS, *LOOSE)]
        lines += [f"auditor.check: {CHECK[0]}"] if self.checks else []
        lines += [f"unanswered: {self.unanswered}"] if self.unanswered else []
        lines += ["approve: plan"] if self.approve else []
        listed, config = "\n".join(f"- {each}" for each in criteria), "\n".join(lines)
        return f"# Task: {self.name}\n\n## Goal\n{goal}\n\n## Success Criteria\n{listed}\n\n## Agent Config\n{config}\n"
