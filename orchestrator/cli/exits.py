"""How a command ends: its exit code, and the exception that ends it early; and how a task has ended, in words."""

from __future__ import annotations

from enum import IntEnum

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any


class Exit(IntEnum):
    """The exit codes of all verbs; `task help exit-codes` explains them."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    WAITING = 3
    RUNNING = 4
    STOPPED = 5
    DOWN = 6
    PARTIAL = 7


OF_TASK = {
    "running": Exit.RUNNING,
    "waiting": Exit.WAITING,
    "stopped": Exit.STOPPED,
    "complete": Exit.DONE,
    "partial": Exit.PARTIAL,
    "failed": Exit.FAILED,
}
"""The exit code for each state of a task."""

SAID = {"partial": "complete in part"}
"""States that are shown to people under another name."""


def step_said(step: dict[str, Any]) -> str:
    """Return a step's status in words. One whose goal is reached in another way is not given up."""
    status = str(step.get("status"))
    return "planned anew" if status == "set_aside" and step.get("replaced") else status.replace("_", " ")


def on_word(view: dict[str, Any]) -> str:
    """Return which criteria of a complete task rest on their judge's word alone; empty if none does."""
    counted = view.get("counts") or {}
    if view.get("state") != "complete" or not counted.get("attested"):
        return ""
    from orchestrator.formats.amounts import on_word_said

    return on_word_said(counted["attested"], counted.get("criteria") or 0)


class CommandError(Exception):
    """Ends the command. The message tells the user what is wrong and what to do."""

    def __init__(self, code: Exit, message: str) -> None:
        self.code = code
        super().__init__(message)
