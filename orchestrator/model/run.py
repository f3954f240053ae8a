"""A run: one life of one agent process, for one order; and what is believed of it (design, sections 2 and 6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.model.event import Failure
from orchestrator.model.usage import Usage

HERE: Final = "local"
"""This machine, as a run's host."""


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
    UNREPORTED = "unreported"  # its work lies there, and it wrote no handoff
    OVERTAKEN = "overtaken"  # its step was reopened, set aside or abandoned
    BY_PM = "by_pm"  # the PM agent wanted it ended
    FAILED = "failed"  # its turn failed, and its step goes on with another run
    BUDGET = "budget"  # its task has used what it may
    LEFT = "left"  # its program has ended by itself, and processes that it left behind live
    TREE_LOST = "tree_lost"  # the worktree in which it works is not there any more


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


class Quiet(StrEnum):
    """What a look at a run found that gave no sign of progress for too long (HUB 7.1: exploring or spinning)."""

    MOVING = "moving"  # it changed something that nobody had told of
    PRINTING = "printing"  # what it prints is new
    COMPUTING = "computing"  # it uses the processor, and shows nothing
    SPINNING = "spinning"  # what it prints repeats itself
    DIALOG = "dialog"  # it waits for a person's answer on its screen
    UNREPORTED = "unreported"  # its work lies there, and it wrote no handoff
    FAILED = "failed"  # its screen says that its turn failed, or will for long
    HUNG = "hung"  # nothing at all
    UNKNOWN = "unknown"  # it could not be looked at


class Delivery(StrEnum):
    """What became of a line that was to be typed (law 4: no receipt is unknown)."""

    DELIVERED = "delivered"
    NOT_DELIVERED = "not_delivered"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Sight:
    """What was seen of a quiet run. Times are seconds since the epoch, by its own host.

    `cpu` is how many seconds of processor time its processes have used so far, None where nobody tells; `printed`
    how many bytes it has printed; `fresh` whether that says anything that it had not said before. `changed_at` is
    when something in its tree or its folders was last changed, `artifacts` are those made since its order.
    `dialog` names the rule that found a dialog on its screen, `screen` is the end of that, and `listens` says
    whether a typed line reaches it. `line` is what a rule knew the screen by; where that is of a failure, `failure` is
    of which kind, and `again_at` when it ends, if it says so.
    """

    cpu: float | None = None
    printed: int = 0
    fresh: bool = False
    changed_at: float = 0.0
    artifacts: tuple[str, ...] = ()
    dialog: str = ""
    screen: tuple[str, ...] = ()
    listens: bool = False
    line: str = ""
    failure: Failure | None = None
    again_at: float | None = None


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
class Leftover:
    """A process that outlives the program of its run. `name` is what it calls itself, without control characters."""

    pid: int
    name: str = ""

    def __str__(self) -> str:
        """How a person would look for it."""
        return f"{self.pid} {self.name}".strip()


@dataclass(frozen=True, slots=True)
class Run:
    """One run as the PM knows it. `instance` is the agent's name, or `dev-2` for a second one at once.

    `host` is HERE, or the box on which it lives, as `Place` names it.

    `resumes` is the run whose work it goes on with. `session` is by what its program resumes the conversation, which
    is `spent` when it grew too long, `delivery` what became of its order where the program tells, `heard` are the
    newest events that were taken, by name, and `waits_for` the one that waits for an answer. `looked_at`, `looks` and
    `quiet` are of the looks since its last progress, `nudges` counts what was typed to it, `cpu` and `printed` are
    those of the last look. `ending_at` is when it was told to end, 0 if an older version told it. `usage` is what its
    program told of tokens and money; `lasted` how many seconds it lived, once it is gone.
    """

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
    host: str = HERE
    pid: int | None = None
    pane: str = ""
    exit: Exit | None = None
    reported_at: float | None = None
    progress_at: float = 0.0
    ending: Ending = Ending.NOT
    ending_at: float = 0.0
    resumes: str = ""
    looked_at: float = 0.0
    looks: int = 0
    quiet: Quiet | None = None
    nudges: int = 0
    cpu: float | None = None
    printed: int = 0
    receipts: bool = False
    session: str = ""
    transcript: str = ""
    spent: bool = False
    delivery: Delivery | None = None
    heard: tuple[str, ...] = ()
    waits_for: str = ""
    turn_since: float = 0.0
    usage: Usage = Usage()  # noqa: RUF009 (it is frozen)
    lasted: float = 0.0

    @property
    def far(self) -> bool:
        """True where it lives on a box."""
        return self.host != HERE

    @property
    def live(self) -> bool:
        """True until the run is known to be gone; such a run holds its workspace."""
        return self.life is not Life.GONE
