"""A run: one life of one agent process, for one order; and what is believed of it (design, sections 2 and 6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Purpose(StrEnum):
    """Why a run was opened."""

    WORK = "work"  # an agent carries out an order
    CHECK = "check"  # the daemon runs a command and judges by its exit status (law 6)


class Ending(StrEnum):
    """Why the PM is ending a run, if it is."""

    NOT = ""
    DONE = "done"  # it has reported and its time to leave by itself is over
    STOPPED = "stopped"  # the user stopped the task
    SILENT = "silent"  # no sign of progress for too long
    OVERDUE = "overdue"  # longer than a run may last
    OVERTAKEN = "overtaken"  # its step was reopened, set aside or abandoned


class Life(StrEnum):
    """The first axis of a belief: is there a process."""

    STARTING = "starting"
    ALIVE = "alive"
    GONE = "gone"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"


class Turn(StrEnum):
    """The second axis of a belief: whose move it is."""

    BUSY = "busy"
    RESTING = "resting"
    WAITING = "waiting"
    LIMITED = "limited"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: by itself with `code`, by `signal`, for want of memory, or unseen (`lost`)."""

    code: int | None = None
    signal: int | None = None
    out_of_memory: bool = False
    lost: bool = False

    @property
    def clean(self) -> bool:
        """True when the process ended by itself with status 0."""
        return self.code == 0

    def __str__(self) -> str:
        """How a person would say it."""
        if self.lost:
            return "vanished with its terminal"
        if self.out_of_memory:
            return "was killed for memory"
        return f"was ended by signal {self.signal}" if self.signal else f"exited {self.code}"


@dataclass(frozen=True, slots=True)
class Run:
    """One run as the PM knows it. `instance` is the agent's name, or `dev-2` for a second one at once."""

    id: str
    step: str
    attempt: int
    agent: str
    instance: str
    purpose: Purpose
    opened_at: float
    order: str = ""
    life: Life = Life.STARTING
    turn: Turn = Turn.UNKNOWN
    evidence: str = "ordered"
    since: float = 0.0
    host: str = "local"
    pid: int | None = None
    pane: str = ""
    exit: Exit | None = None
    reported_at: float | None = None
    progress_at: float = 0.0
    ending: Ending = Ending.NOT

    @property
    def live(self) -> bool:
        """True until the run is known to be gone; such a run holds its workspace."""
        return self.life is not Life.GONE
