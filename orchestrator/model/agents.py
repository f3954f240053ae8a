"""Agents as static definitions, and the roles that they play (H4, H5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.model.hands import Deletes, Hands


class Role(StrEnum):
    """The eight roles (H4). An agent of another name plays the role that its definition names."""

    PM = "pm"
    EXPLORE = "explore"
    PLAN = "plan"
    ARCHITECT = "architect"
    DEV = "dev"
    TEST = "test"
    REVIEW = "review"
    SCRIBE = "scribe"


REMOTE_ROLES: Final = frozenset({Role.DEV, Role.ARCHITECT})
"""Only these may work on another machine: devices are here (H4)."""

ARTIFACT_FOLDERS: Final = {
    Role.EXPLORE: "analysis",
    Role.PLAN: "design",
    Role.ARCHITECT: "design",
    Role.DEV: "code",
    Role.TEST: "tests",
    Role.REVIEW: "reviews",
}
"""Which folder of `artifacts/` a role writes into; any other agent has one of its own name."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A definition that can be spawned by name.

    `command` and `check` are argument vectors and never pass through a shell. They are honoured only
    from a template, the settings or task.md: a definition found in a repository cannot name a program (U4).
    `listens` says that its program takes a line typed into its pane for a message, `receipts` that its program tells
    when it has taken an order. `hands` says how its work gets onto the disk, `deletes` what becomes of deletes there.
    """

    name: str
    role: Role | None = None
    description: str = ""
    prompt: str = ""
    tools: tuple[str, ...] = ()
    model: str | None = None
    runtime: str = "auto"
    command: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    source: str = ""
    listens: bool = False
    receipts: bool = False
    hands: Hands = Hands.OWN
    deletes: Deletes = Deletes.ASK

    @property
    def artifact_folder(self) -> str:
        """The folder of `artifacts/` that this agent writes into."""
        return ARTIFACT_FOLDERS.get(self.role, self.name) if self.role else self.name
