"""A run: one life of one agent process, for one order; and what is believed of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.model.activity import Stage
from orchestrator.model.event import Failure
from orchestrator.model.host_names import HERE, is_box
from orchestrator.model.usage import Usage
from orchestrator.model.usage_limit import Reset


class Purpose(StrEnum):
    """Why a run was opened."""

    WORK = "work"  # an agent carries out an order
    CHECK = "check"  # the daemon runs a command and judges by its exit status (law 6)
    PREPARE = "prepare"  # the daemon makes the worktree of a step ready, as task.md says


class Ending(StrEnum):
    """Why the PM is ending a run, if it is."""

    NOT = ""  # it is not being ended
    DONE = "done"  # it has reported and its time to leave by itself is over
    STOPPED = "stopped"  # the user stopped the task
    SILENT = "silent"  # no sign of progress for too long
    OVERDUE = "overdue"  # longer than a run may last
    UNREPORTED = "unreported"  # its work lies there, and it wrote no handoff
    SUPERSEDED = "superseded"  # its step was reopened, set aside or abandoned
    BY_PM = "by_pm"  # the PM agent wanted it ended
    FAILED = "failed"  # its turn failed, and its step goes on with another run
    BUDGET = "budget"  # its task has used what it may
    STALLED = "stalled"  # it waited for the model's answer, and nothing came
    UNASKED = "unasked"  # it stands at a dialog that its hook should have asked about
    REPEATING = "repeating"  # it makes the same calls with the same results, though it was told so
    LEFT = "left"  # its program has ended by itself, and processes that it left behind live
    TREE_LOST = "tree_lost"  # the worktree in which it works is not there any more


class Life(StrEnum):
    """The first axis of a belief: is there a process."""

    STARTING = "starting"  # the launch was ordered; no process was seen yet
    QUEUED = "queued"  # it waits in the queue of a cluster; no process was seen yet
    ALIVE = "alive"  # its process was seen
    GONE = "gone"  # its process has ended
    UNREACHABLE = "unreachable"  # the box on which it lives does not answer
    UNKNOWN = "unknown"  # it could not be looked at


NOT_BEGUN: Final = frozenset({Life.STARTING, Life.QUEUED})
"""The lives in which no process was seen yet."""


class Turn(StrEnum):
    """The second axis of a belief: whose move it is."""

    BUSY = "busy"  # the agent works on its turn
    RESTING = "resting"  # its turn is over
    WAITING = "waiting"  # it waits for an answer
    LIMITED = "limited"  # its service refuses for a usage limit
    UNKNOWN = "unknown"  # its program does not say


class Quiet(StrEnum):
    """What a look at a run found that gave no sign of progress for too long (H9: exploring or spinning)."""

    MOVING = "moving"  # it changed something that nobody had told of
    PRINTING = "printing"  # what it prints is new
    COMPUTING = "computing"  # it uses the processor, and shows nothing
    SPINNING = "spinning"  # what it prints repeats itself
    DIALOG = "dialog"  # it waits for a person's answer on its screen
    UNREPORTED = "unreported"  # its work lies there, and it wrote no handoff
    FAILED = "failed"  # its screen says that its turn failed, or will for long
    WAITING = "waiting"  # the model's answer is awaited, and there is none yet
    ANSWERED = "answered"  # the model's answer is awaited, and the screen shows more of it than it did
    STALLED = "stalled"  # the model's answer is awaited, and nothing came of it for too long
    TOOL = "tool"  # a tool call of its has no result yet
    UNASKED = "unasked"  # it waits at a dialog that its hook should have asked about
    REPEATING = "repeating"  # no call of it brings back anything new
    HUNG = "hung"  # nothing at all
    UNSURE = "unsure"  # there is nothing yet to hold against what was seen
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
    `said` is a fingerprint of what its screen says, without clocks and spinners; empty where no rule knows these.
    `dialog` names the rule that found a dialog on its screen, which hooks `ask` about where they work; `screen` is the
    end of that, and `listens` says whether a typed line reaches it. `line` is what a rule knew the screen by; where
    that is of a failure, `failure` is of which kind, and `reset` when it ends, if it says so.
    """

    cpu: float | None = None
    printed: int = 0
    fresh: bool = False
    changed_at: float = 0.0
    artifacts: tuple[str, ...] = ()
    said: str = ""
    dialog: str = ""
    asks: bool = False
    screen: tuple[str, ...] = ()
    listens: bool = False
    line: str = ""
    failure: Failure | None = None
    reset: Reset | None = None


_OWN_FAULTS: Final = frozenset({4, 5, 6, 7, 8, 11})
"""Signals that a program gets for what it does: ILL, TRAP, ABRT, BUS, FPE, SEGV. Others are sent by somebody else."""

_SHELL_ADDS: Final = 128


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: by itself with `code`, by `signal`, for want of memory, or unseen (`lost`).

    `cause` says why, where what it ran in was ended: a job of Slurm at its time limit.
    """

    code: int | None = None
    signal: int | None = None
    out_of_memory: bool = False
    lost: bool = False
    cause: str = ""

    @property
    def clean(self) -> bool:
        """True when the process ended by itself with status 0."""
        return self.code == 0

    @property
    def verdict(self) -> int | None:
        """The exit status of a command that judges; None if it was kept from judging.

        One that crashed by its own fault failed: its status is the one that a shell would have reported for it.
        """
        if self.signal in _OWN_FAULTS and not self.out_of_memory:
            return _SHELL_ADDS + self.signal
        return self.code

    def __str__(self) -> str:
        """How a person would say it."""
        if self.cause:
            return f"ended: {self.cause}"
        if self.lost:
            return "vanished, and how it ended is unknown"
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

    `host` is HERE, or the box on which it lives, as `Location` names it. `queued` says why its engine has it wait for a
    place before it begins, such as `Resources`; empty if it does not.

    `resumes` is the run whose work it goes on with. `session` is by what its program resumes the conversation, which
    is `spent` when it grew too long, `delivery` what became of its order where the program tells, `acknowledged` names
    the newest events that were taken, `event_at` is when the last one was, and `waits_for` the one that waits for an
    answer. What is believed of its turn is so since `turn_since`.

    `progress_at` is when it last gave a sign of work, put later by the seconds that were not counted since, as the
    machine slept or the clock was set: `uncounted`.

    `looked_at` is of its last look, `watched_at` of the last one for its silence; `looks` counts those for its
    silence since its last progress or its model's last answer, `quiet` is what the last one found, `cpu` and
    `printed` what it had used and printed by then. What its screen said at `said_at` is known again by `said`; it
    last changed at `screen_changed_at`. `nudges` counts what was typed to it. `ending_at` is when it was asked to end,
    0 if an older version asked it. `usage` is what its program reported of tokens and money; `lasted` how many seconds
    it lived, once it is gone.

    By the records that its program keeps: the `stage` of its turn, how many `records` there were, when the newest one
    came (`recorded_at`), when a call last came back (`returned_at`) and the newest that was no repetition (`novel_at`).
    `cautioned_at` is when it was last told that it repeats itself, and `repeated` what. `tool_requests` are its newest
    requests for permission, where there are no records.
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
    uncounted: float = 0.0
    ending: Ending = Ending.NOT
    ending_at: float = 0.0
    resumes: str = ""
    looked_at: float = 0.0
    watched_at: float = 0.0
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
    acknowledged: tuple[str, ...] = ()
    waits_for: str = ""
    turn_since: float = 0.0
    event_at: float = 0.0
    said: str = ""
    said_at: float = 0.0
    screen_changed_at: float = 0.0
    stage: Stage = Stage.UNKNOWN
    records: int = 0
    recorded_at: float = 0.0
    novel_at: float = 0.0
    returned_at: float = 0.0
    cautioned_at: float = 0.0
    repeated: str = ""
    tool_requests: tuple[int, ...] = ()
    usage: Usage = Usage()  # noqa: RUF009 (it is frozen)
    lasted: float = 0.0
    queued: str = ""

    @property
    def is_queued(self) -> bool:
        """True while it has not begun because it waits in the queue of its engine."""
        return self.life is Life.QUEUED

    @property
    def on_box(self) -> bool:
        """True where it lives on a machine over SSH, with files of its own."""
        return is_box(self.host)

    @property
    def heard_at(self) -> float:
        """When it was last heard of: by an event, by a record, or as it came alive."""
        return max(self.event_at, self.recorded_at, self.since)

    @property
    def live(self) -> bool:
        """True until the run is known to be gone; such a run holds its workspace."""
        return self.life is not Life.GONE
