"""How agent programs are launched, read and answered: one file per program, one contract.

A runtime turns an agent's definition and its order into an argument vector, an environment and the files that
pre-empt every dialog; what the program tells of itself into events; and answers into what its hooks print. It starts
and reads nothing itself: the host launches through the run's own launcher, events come as files through `relay.sh`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:  # whoever only looks for a template or a login needs none of it
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from orchestrator.model.activity import Record
    from orchestrator.model.agents import Agent
    from orchestrator.model.event import Event, Reply
    from orchestrator.model.permission import Act
    from orchestrator.model.usage import Read
    from orchestrator.runtimes.screens import ScreenRule


@dataclass(frozen=True, slots=True)
class Spawn:
    """All that a runtime is told of one run. Paths are absolute, as the run sees them.

    `folder` is the run's own, in the PM's state; the files of `Launching` come to lie there. `granted` are the folders
    that it must write besides `workspace`. `prompt` is the order with its preamble, `order` the file that holds it.
    `resumes` is the session that it goes on with, or empty; `session` what a new one is to be called, where the
    program lets us choose (a UUID). `environ` is what reaches every run from outside: HOME and the like.
    """

    agent: Agent
    folder: Path
    workspace: Path
    granted: tuple[Path, ...]
    order: Path
    prompt: str
    session: str = ""
    resumes: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)

    def relay(self, *, waits: bool = False, fallback: str = "") -> str:
        """Return the shell command for a hook: it hands what it reads on stdin to the PM as an event.

        Args:
            waits: it prints the PM's answer; the program waits for it.
            fallback: what it prints where the event cannot be handed over.

        """
        from shlex import join

        from orchestrator.ports.host import RELAY

        words = ["sh", str(self.folder / RELAY)]
        return join([*words, "waits", fallback] if waits else words)


@dataclass(frozen=True, slots=True)
class Launching:
    """How a run is launched. `files` are laid down in the run's own folder first, by name."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)


class Runtime(Protocol):
    """One agent program. All methods are pure."""

    @property
    def name(self) -> str:
        """The name by which a definition or task.md asks for it."""
        ...

    @property
    def receipts(self) -> bool:
        """Whether it tells when it has taken its order, and when its turn is over."""
        ...

    @property
    def unruled(self) -> frozenset[Act]:
        """What it does without asking leave, so that a rule that denies it would not hold."""
        ...

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the user that this program and no other gets: its login, its address; `*` as in settings."""
        ...

    @property
    def screens(self) -> tuple[ScreenRule, ...]:
        """The rules by which its screen is read, where nothing better tells."""
        ...

    def listens(self, agent: Agent) -> bool:
        """Return whether a line typed into its pane is wanted: it reaches the agent, and nothing better does."""
        ...

    def launching(self, spawn: Spawn) -> Launching:
        """Return how a run of it is launched.

        Raises:
            Refused: the definition lacks what this program needs.

        """
        ...

    def event(self, payload: Mapping[str, Any]) -> Event | None:
        """Return what a hook's JSON means, or None if it says nothing of a turn. Never raises on any JSON object."""
        ...

    def answer(self, reply: Reply) -> str:
        """Return what a hook that waits prints for a reply."""
        ...

    def transcripts(self, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """Return the folders beneath which its transcripts lie; a path elsewhere is not believed."""
        ...

    def appended(self, lines: Sequence[bytes]) -> list[Event]:
        """Return what new whole lines of its transcript mean, where that tells what no hook does."""
        ...


@runtime_checkable
class Metered(Protocol):
    """A runtime whose program's transcript tells what it used; where its events tell, `Event.usage` does."""

    def usage(self, appended: bytes, before: Read) -> Read:
        """Return what a transcript tells, given its bytes from `before.offset` on. Never raises."""
        ...


@runtime_checkable
class Traced(Protocol):
    """A runtime whose program records its turns as they go: what it is at, and what came of it."""

    def records(self, line: bytes) -> list[Record]:
        """Return what one whole line of its transcript tells. Never raises."""
        ...


@runtime_checkable
class Recorded(Protocol):
    """A runtime of whose turns a plugin or hook of ours keeps the records, in the run's own folder."""

    @property
    def recorded(self) -> str:
        """The name of that file."""
        ...


@runtime_checkable
class ReadOnly(Protocol):
    """A runtime whose program can be launched with tools that only read, and reports the last message of a turn whole.

    So its agents can have `hands: operations`: what they write as the last message is their answer.
    """

    @property
    def read_only(self) -> bool:
        """Always true."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A runtime whose program does not always find a conversation again that it has begun."""

    def remembers(self, transcript: bytes) -> bool:
        """Return whether a conversation can be gone on with, by all that its transcript holds. Never raises."""
        ...
