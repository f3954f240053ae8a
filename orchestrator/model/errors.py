"""What can go wrong, as one small tree.

::

    OrchestratorError
    ├── Refused          somebody asked for what cannot be; the message says what to do
    │   ├── BadName      not a name that we accept
    │   ├── Unconfirmed  a person must say yes first to what the message shows
    │   └── BadFile      a file that does not read as what it should be: every fault with its line
    ├── Unavailable      the world is not able to now: tmux, git, a full disk, a frozen server
    │   └── Lasting      and will not be until somebody does what the message says
    ├── Damaged          a file of our own does not read; it was set aside, never reset
    └── JournalFailed    a decision could not be made durable: nothing more may be decided

Each message is one sentence fit to be shown: what was wrong, where, and what to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class OrchestratorError(Exception):
    """Anything that this package raises on purpose."""


class Refused(OrchestratorError):
    """Somebody asked for what cannot be done; trying again unchanged will not help."""


class BadName(Refused):
    """A task, agent or subtask name outside `[a-z0-9][a-z0-9_-]{0,63}`."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in a file: the line (1 is the first; 0 speaks of the whole file) and the reason.

    `column` is 0 where the line says enough.
    """

    line: int
    reason: str
    column: int = 0

    def __str__(self) -> str:
        """`line 7: …`, `line 7, column 3: …`, or the bare reason where the whole file is meant."""
        if not self.line:
            return self.reason
        return (
            f"line {self.line}, column {self.column}: {self.reason}"
            if self.column
            else f"line {self.line}: {self.reason}"
        )


class BadFile(Refused):
    """A file that does not read as what it should be.

    `name` is the file as the reader knows it, `faults` every reason that was found.
    """

    def __init__(self, name: str, faults: Sequence[Fault]) -> None:
        self.name = name
        self.faults = tuple(faults)
        super().__init__(
            "; ".join(f"{name}, {fault}" if fault.line else f"{name}: {fault}" for fault in self.faults)
        )


class Unconfirmed(Refused):
    """A person must agree to what the message shows. `confirm` is what the same request then brings along."""

    def __init__(self, message: str, confirm: str) -> None:
        self.confirm = confirm
        super().__init__(message)


class Unavailable(OrchestratorError):
    """The world is not able to do it at this moment; the same call may succeed later."""


class Lasting(Unavailable):
    """The world is not able to do it until somebody does what the message says: trying again by itself is in vain."""


class Damaged(OrchestratorError):
    """A file of our own did not read. The message names where the damaged copy was put."""


class JournalFailed(OrchestratorError):
    """The disk would not take a journal line and will not by waiting (a failed fsync). The daemon ends."""
