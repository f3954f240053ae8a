"""The believed state of the link to a box, and its errors."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.formats.location import Address
from orchestrator.formats.ssh_words import Trouble, Words
from orchestrator.model.errors import Unavailable


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
    """The box's sshd does not offer a requested subsystem, or it ends at once. Nothing was done."""


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


def refused(address: Address, words: Words, known: str, at: float) -> State:
    """Return the state after ssh reported a refusal. `known` is the fingerprint of the key on file."""
    return State(Way.REFUSED, at, words.why, words.trouble, words.offered, known, _advice(address, words))


def _advice(address: Address, words: Words) -> str:
    command = shlex.join(["ssh", *address.words(), "true"])
    match words.trouble:
        case Trouble.UNREACHABLE:
            return ""
        case Trouble.AUTH:
            return f"unlock your key or agent, or have the key let in there: `{command}` must ask nothing"
        case Trouble.UNKNOWN_HOST:
            return f"compare its key by another way, and accept it: `{command}`"
        case Trouble.CHANGED_KEY:
            kept = f" (line {words.line} of {words.known_in})" if words.known_in else ""
            return f"ask whoever runs the box whether its key was changed; only then replace it in known_hosts{kept}"
        case Trouble.SETTINGS:
            return f"correct your ssh settings until `{command}` works"
