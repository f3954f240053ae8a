"""Skills: what agents can be told to load for a task, and only then (H12)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skill:
    """A `SKILL.md` that was found: its name, what it is for in the words of its author, and where it lies."""

    name: str
    description: str
    path: str
