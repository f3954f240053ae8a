"""The life of a run: launched, queued, seen at work, gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from orchestrator.model.activity import Activity
from orchestrator.model.event import Event
from orchestrator.model.run import Delivery, Exit, Leftover, Sight
from orchestrator.model.tool_request import Judgement
from orchestrator.model.usage import Usage


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The launcher of a run claimed it and its process lives."""

    at: float
    run: str
    pid: int
    pane: str = ""
    kind: Literal["run_started"] = "run_started"


@dataclass(frozen=True, slots=True)
class RunQueued:
    """A run waits for a place in the queue of its engine, which says why."""

    at: float
    run: str
    reason: str
    kind: Literal["run_queued"] = "run_queued"


@dataclass(frozen=True, slots=True)
class RunLeft:
    """A run's program has ended, as `exit` says, and processes that it left behind live: some of them are named."""

    at: float
    nonce: str
    run: str
    exit: Exit
    left: tuple[Leftover, ...]
    kind: Literal["run_left"] = "run_left"


@dataclass(frozen=True, slots=True)
class RunGone:
    """Nothing of a run lives any more, and its folders were scanned after that (law 5).

    `lines` are the last lines that its program printed: cleaned, masked and few.
    """

    at: float
    nonce: str
    run: str
    exit: Exit
    lines: tuple[str, ...] = ()
    kind: Literal["run_gone"] = "run_gone"


@dataclass(frozen=True, slots=True)
class LaunchFailed:
    """A run could not be launched, and no process of it exists or can come to exist.

    `again`: the world was not able to just then; without it, trying the same once more will not help. `tree_lost`: it
    was to go on in a worktree that is gone, with work that was not committed.
    """

    at: float
    nonce: str
    run: str
    reason: str
    again: bool = True
    tree_lost: bool = False
    kind: Literal["launch_failed"] = "launch_failed"


@dataclass(frozen=True, slots=True)
class CheckedIn:
    """The heartbeat, or a look on demand. `progress` gives the newest sign of work per live run.

    `asked`: the user asked for it, and may have mended something: what could not be launched is tried again now.
    """

    at: float
    nonce: str
    progress: dict[str, float] = field(default_factory=dict)
    asked: bool = False
    kind: Literal["checked_in"] = "checked_in"


@dataclass(frozen=True, slots=True)
class Looked:
    """A quiet run was looked at; `sight` is None where it could not be, for `reason`."""

    at: float
    nonce: str
    run: str
    sight: Sight | None = None
    reason: str = ""
    kind: Literal["looked"] = "looked"


@dataclass(frozen=True, slots=True)
class Nudged:
    """A line was to be typed to a run, and this became of it."""

    at: float
    nonce: str
    run: str
    action: str
    delivery: Delivery
    reason: str = ""
    kind: Literal["nudged"] = "nudged"


@dataclass(frozen=True, slots=True)
class AnswerGiven:
    """The answer that a program waits for lies where it looks."""

    at: float
    action: str
    kind: Literal["answer_given"] = "answer_given"


@dataclass(frozen=True, slots=True)
class EventLanded:
    """A run's program told something of itself, in the file `name`; with `waits` it waits for an answer.

    `whole` says of what it took (TAKEN) whether that is its order, to the byte. `judgement` is what the rules say of
    what it wishes (ASKED). `saving` names what its handoff was found under when its turn was over (ENDED), if that is
    a temporary name.
    """

    at: float
    nonce: str
    run: str
    name: str
    event: Event
    waits: bool = False
    whole: bool | None = None
    judgement: Judgement | None = None
    saving: str = ""
    kind: Literal["event_landed"] = "event_landed"


@dataclass(frozen=True, slots=True)
class UsageSeen:
    """What a run has used so far, as its program tells it: at the end of a turn, of the run, or in between."""

    at: float
    nonce: str
    run: str
    usage: Usage
    kind: Literal["usage_seen"] = "usage_seen"


@dataclass(frozen=True, slots=True)
class ActivitySeen:
    """What a run does, by the records of its program: told where it differs from what was believed, and matters."""

    at: float
    nonce: str
    run: str
    activity: Activity
    kind: Literal["activity_seen"] = "activity_seen"
