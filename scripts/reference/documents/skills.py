"""The documents of `task skill … --json`, field by field."""

from __future__ import annotations

from typing_extensions import TypedDict

from orchestrator.model.composite import Domain
from scripts.reference.documents.parts import described


@described
class ListedSkill(TypedDict):
    """A composite skill that was found, whether it can be used or not."""

    name: str
    """Its name."""
    description: str
    """What it is for; empty if that is not said, or it cannot be used."""
    path: str
    """Its file."""
    fault: str
    """Why it cannot be used; empty if it can."""


@described
class SkillList(TypedDict):
    """All composite skills."""

    skills: list[ListedSkill]
    """The skills, by name: those of the project, of the user, and those that ship."""


@described
class Phase(TypedDict):
    """A phase of a composite skill."""

    id: str
    """Its name."""
    agent: str
    """Who works in it."""
    instructions: str
    """What the agent is asked for; empty: only the request."""
    reads: list[str]
    """Agents of earlier phases whose memory files it may read."""


@described
class SkillShow(TypedDict):
    """One composite skill."""

    name: str
    """Its name."""
    description: str
    """What it is for, or empty."""
    path: str
    """Its file."""
    match: list[str]
    """Words and phrases by which a request for it is recognised."""
    domain: Domain | None
    """What its requests are about where no rule says otherwise, if that is set."""
    phases: list[Phase]
    """Its phases, in order."""
