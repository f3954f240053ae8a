"""How a command ends: its exit code, and the exception that ends it early."""

from __future__ import annotations

from enum import IntEnum


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


class CommandError(Exception):
    """Ends the command. The message tells the user what is wrong and what to do."""

    def __init__(self, code: Exit, message: str) -> None:
        self.code = code
        super().__init__(message)
