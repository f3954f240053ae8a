"""The way to a box: runs programs there. What brings it about (ssh, here) is nobody's business who uses it.

`BoxLink` is what work on a box needs: `run` a command, hold a `shell` for a program that goes there by itself (rsync,
git), hold a `subsystem`, ask for the `state`. `MonitoredLink` is what the monitor of a box needs besides: it decides
when the way is tried again, and when it ends.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from orchestrator.model.boxes import Address, Trouble
from orchestrator.model.errors import Unavailable

MOST: Final = 1_048_576
"""The default limit of bytes that a command may print."""

DEADLINE: Final = 20.0
"""Seconds that a command may wait for a channel, and again that it may take."""


class Way(StrEnum):
    """Whether a box can be used."""

    UNTRIED = "untried"
    REACHABLE = "reachable"
    UNREACHABLE = "unreachable"  # never dead: it is retried automatically (law 5)
    REFUSED = "refused"  # a person must do something first: not retried until somebody says so


@dataclass(frozen=True, slots=True)
class State:
    """The state of the link to a box, since when (seconds since the epoch), and why that is believed.

    `offered` and `known` are fingerprints: of the key that the box showed and, if it differs, of the key that the user
    knows. `advice` is what the user can do.
    """

    way: Way = Way.UNTRIED
    since: float = 0.0
    why: str = ""
    trouble: Trouble | None = None
    offered: str = ""
    known: str = ""
    advice: str = ""


class Unreachable(Unavailable):
    """The box does not answer; the state of runs there is unknown. It is retried automatically."""


class Cut(Unreachable):
    """The connection ended while a command ran there: whether it was carried out is unknown (law 4).

    `stands`: the connection itself still stands, so the command failed and not the link: it did not end in time, say.
    """

    def __init__(self, message: str, *, stands: bool = False) -> None:
        self.stands = stands
        super().__init__(message)


class NoSubsystem(Unavailable):
    """The box does not offer a requested subsystem, or it ends at once. Nothing was done."""


class NotLetIn(Unavailable):
    """The box, or our own ssh, refuses; retrying unchanged will not help. `state` has the evidence."""

    def __init__(self, message: str, state: State) -> None:
        self.state = state
        super().__init__(message)


def is_lost(error: Exception) -> bool:
    """Return whether an error says that a box cannot be used now, and not only that one thing there cannot be done.

    A command that does not end while the connection stands says nothing of others: one folder may be on a disk that
    hangs.
    """
    return isinstance(error, Unreachable | NotLetIn) and not (isinstance(error, Cut) and error.stands)


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a command: its status (negative: the signal that ended it) and its output."""

    status: int
    out: bytes
    err: bytes


class ByteStream(Protocol):
    """An exchange of bytes that has a deadline; its errors are those of `BoxLink.run`."""

    def send(self, data: bytes) -> int:
        """Write as much as possible at once, and return how many bytes."""
        ...

    def recv(self, most: int) -> bytes:
        """Return what is available, at most `most` bytes, and at least one."""
        ...

    def recv_ready(self, patience: float = 0.0) -> bool:
        """Return whether there is something to read within `patience` seconds."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class ChildProcesses(Protocol):
    """Programs here that use the link by themselves: they end with it."""

    def held(self, child: subprocess.Popen[bytes]) -> AbstractContextManager[None]:
        """Register a child, which leads its process group, for as long as the context is held."""
        ...


class BoxLink(Protocol):
    """The way to one box, for work there. Safe to call from several threads; no call outlives its deadline."""

    @property
    def address(self) -> Address:
        """The box."""
        ...

    @property
    def children(self) -> ChildProcesses:
        """The programs of `shell` that are under way."""
        ...

    def state(self) -> State:
        """Return the believed state of the link, and since when. It asks nobody, and returns at once."""
        ...

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", deadline: float = DEADLINE, most: int = MOST
    ) -> Ended:
        """Run a program on the box and return its status and output; no word of it is interpreted by a shell.

        `deadline` is in seconds, `most` in bytes of standard output and of standard error each.

        Raises:
            Unreachable: there is no connection, and none could be made, or tried, now. Nothing was run.
            Cut: the connection ended during the command, or it did not end in time: its outcome is unknown.
            NotLetIn: the box or our side refuses, until `MonitoredLink.again` is called.
            TooMuch: it printed more than `most` bytes.

        """
        ...

    def shell(self, deadline: float = DEADLINE) -> AbstractContextManager[list[str]]:
        """Hold a channel for a program that goes there by itself; yield the words of a remote shell, as of `rsync -e`.

        A host and a command follow them; the host has no effect. `deadline`, in seconds, is for the wait. Raises as
        `run` does.
        """
        ...

    def subsystem(self, name: str, deadline: float = DEADLINE) -> AbstractContextManager[ByteStream]:
        """Hold a channel to a subsystem. `deadline`, in seconds, is for the whole exchange.

        Raises as `run` does, and NoSubsystem if the box has no such subsystem.
        """
        ...

    def cut_off(self, why: str, said: bytes = b"") -> Unreachable:
        """Return the error for a program of `shell` that ended early, or did not end in time.

        `said` is what it wrote on standard error.
        """
        ...


class MonitoredLink(BoxLink, Protocol):
    """The way to one box, for its monitor and the windows that show it."""

    @property
    def socket(self) -> Path:
        """A path at which something lies while the connection stands."""
        ...

    def terminal(self, line: str) -> list[str]:
        """Return the command that runs a command line there on a terminal, over a connection that stands.

        It never makes one.
        """
        ...

    def again(self) -> None:
        """Let the next command try to connect at once. It returns at once."""
        ...

    def patience(self) -> float:
        """Return the seconds until a command would try to connect: 0 if it would now."""
        ...

    def close(self) -> None:
        """End the connection; the next command makes another. Programs in a tmux there go on."""
        ...

    def end(self) -> None:
        """End the connection for good, with all commands: their callers get an error at once."""
        ...
