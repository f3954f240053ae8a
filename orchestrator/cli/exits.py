"""How a command ends: its exit code, and the one way to end it early."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of every verb. `task help exit-codes` says what they mean."""

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
"""The code that says how a task stands, by the name of its state."""

SAID = {"partial": "complete in part"}
"""The names of states that people read otherwise."""


class CommandError(Exception):
    """The command ends here. The message is for the user: what is wrong, and what to do."""

    def __init__(self, code: Exit, message: str) -> None:
        self.code = code
        super().__init__(message)
