"""How an agent's work gets onto the disk. Not beside file operations: a command reads an agent, and none of those."""

from __future__ import annotations

from enum import StrEnum


class Hands(StrEnum):
    """How an agent's work gets onto the disk (`hands:` of task.md)."""

    OWN = "own"  # its program writes files itself
    OPERATIONS = "operations"  # its program writes text, and the PM carries out the file operations in it


class Deletes(StrEnum):
    """What becomes of the deletes among file operations (`deletes:` of task.md)."""

    REFUSE = "refuse"  # the operations go back to the agent
    ASK = "ask"  # a person, or `unanswered:`, confirms them before the first operation is carried out
    ALLOW = "allow"  # they are carried out, in the worktree of the step
