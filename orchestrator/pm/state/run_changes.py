"""The changes of one run, and the state that follows from each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from orchestrator.model.activity import Stage
from orchestrator.model.quick_replace import replace
from orchestrator.model.run import NOT_BEGUN, Delivery, Ending, Exit, Life, Quiet, Run, Turn
from orchestrator.model.usage import Usage
from orchestrator.pm.state.transitions import IllegalMove


@dataclass(frozen=True, slots=True)
class RunOpened:
    """A run is to be launched."""

    run: Run
    kind: Literal["run_opened"] = "run_opened"


@dataclass(frozen=True, slots=True)
class RunBelieved:
    """The believed state of a run has changed, on this evidence."""

    run: str
    life: Life
    turn: Turn
    evidence: str
    at: float
    pid: int | None = None
    pane: str = ""
    exit: Exit | None = None
    kind: Literal["run_believed"] = "run_believed"


@dataclass(frozen=True, slots=True)
class RunPending:
    """A run has not begun: it waits in the queue of its engine, for this reason."""

    run: str
    reason: str
    at: float
    kind: Literal["run_pending"] = "run_pending"


@dataclass(frozen=True, slots=True)
class RunReported:
    """A run has handed in the report that its order asked for."""

    run: str
    at: float
    kind: Literal["run_reported"] = "run_reported"


@dataclass(frozen=True, slots=True)
class RunProgressed:
    """The newest sign of work of a run."""

    run: str
    at: float
    kind: Literal["run_progressed"] = "run_progressed"


@dataclass(frozen=True, slots=True)
class RunWatched:
    """A look at a quiet run was ordered; `counts`: towards the bound on looks since its last progress."""

    run: str
    at: float
    counts: bool = True
    kind: Literal["run_watched"] = "run_watched"


@dataclass(frozen=True, slots=True)
class RunLooked:
    """The result of a look at a quiet run."""

    run: str
    quiet: Quiet
    turn: Turn
    evidence: str
    at: float
    cpu: float | None = None
    printed: int = 0
    said: str = ""
    kind: Literal["run_looked"] = "run_looked"


@dataclass(frozen=True, slots=True)
class RunNudged:
    """One more line is being typed to a run."""

    run: str
    kind: Literal["run_nudged"] = "run_nudged"


@dataclass(frozen=True, slots=True)
class RunSignalled:
    """A run's program reported an event: the state of its turn now, by which event, and how to resume it.

    Not `alive`: it reported that nothing comes from its model.
    """

    run: str
    name: str
    turn: Turn
    evidence: str
    at: float
    session: str = ""
    transcript: str = ""
    waits: bool = False
    alive: bool = True
    kind: Literal["run_signalled"] = "run_signalled"


@dataclass(frozen=True, slots=True)
class RunAnswered:
    """A run no longer waits for an answer. The time that it waited does not count as its model's."""

    run: str
    at: float = 0.0
    kind: Literal["run_answered"] = "run_answered"


@dataclass(frozen=True, slots=True)
class RunDelivered:
    """Whether a run's order was delivered."""

    run: str
    delivery: Delivery
    kind: Literal["run_delivered"] = "run_delivered"


@dataclass(frozen=True, slots=True)
class RunSpent:
    """A run's conversation must not be resumed."""

    run: str
    kind: Literal["run_spent"] = "run_spent"


@dataclass(frozen=True, slots=True)
class RunTraced:
    """The state of a run's turn by its program's records. `evidence`: what a look had found no longer holds."""

    run: str
    at: float
    stage: Stage
    records: int
    recorded_at: float
    novel_at: float
    evidence: str = ""
    returned_at: float = 0.0
    kind: Literal["run_traced"] = "run_traced"


@dataclass(frozen=True, slots=True)
class RunCautioned:
    """A run is being warned that it repeats itself, with the repeated call."""

    run: str
    repeated: str
    at: float
    kind: Literal["run_cautioned"] = "run_cautioned"


@dataclass(frozen=True, slots=True)
class RunToolRequested:
    """A run whose program keeps no records asked for a permission: `tool_request` is its fingerprint, 0 for a write."""

    run: str
    tool_request: int
    kind: Literal["run_tool_requested"] = "run_tool_requested"


@dataclass(frozen=True, slots=True)
class RunMetered:
    """What a run has used so far."""

    run: str
    usage: Usage
    kind: Literal["run_metered"] = "run_metered"


@dataclass(frozen=True, slots=True)
class RunEnding:
    """The PM is ending a run."""

    run: str
    ending: Ending
    at: float = 0.0
    kind: Literal["run_ending"] = "run_ending"


RunChange: TypeAlias = (
    RunBelieved
    | RunReported
    | RunProgressed
    | RunWatched
    | RunLooked
    | RunNudged
    | RunSignalled
    | RunAnswered
    | RunDelivered
    | RunSpent
    | RunTraced
    | RunCautioned
    | RunToolRequested
    | RunMetered
    | RunPending
    | RunEnding
)
"""The changes of a run that exists already."""

TOOL_REQUESTS_KEPT: Final = 30
"""How many permission requests are kept of a run whose program keeps no records."""

ACKNOWLEDGED_KEPT: Final = 64
"""How many events of a run are kept by name: those whose files may still be there."""


def run_after(was: Run, change: RunChange) -> Run:  # noqa: C901, PLR0912 (a case per change)
    """Return a run as it is after a change.

    Raises:
        IllegalMove: the change would revive a run that is gone.

    """
    match change:
        case RunBelieved():
            return _believed(was, change)
        case RunPending():
            said = f"pending: {change.reason}"
            return replace(was, life=Life.QUEUED, queued=change.reason, evidence=said, turn_since=change.at)
        case RunReported():
            return replace(was, reported_at=change.at, progress_at=change.at, uncounted=0.0)
        case RunProgressed():
            return replace(was, progress_at=change.at, uncounted=0.0, looks=0, quiet=None)
        case RunWatched():
            watched_at = change.at if change.counts else was.watched_at
            return replace(was, looked_at=change.at, watched_at=watched_at, looks=was.looks + change.counts)
        case RunLooked():
            return replace(
                was,
                quiet=change.quiet,
                turn=change.turn,
                evidence=change.evidence,
                cpu=change.cpu,
                printed=change.printed,
                said=change.said or was.said,
                said_at=change.at if change.said else was.said_at,
                screen_changed_at=change.at if change.said not in {"", was.said} else was.screen_changed_at,
                turn_since=change.at,
                looked_at=change.at,
                looks=0 if change.quiet is Quiet.ANSWERED else was.looks,
            )
        case RunNudged():
            return replace(was, nudges=was.nudges + 1)
        case RunSignalled():
            return _signalled(was, change)
        case RunAnswered():
            return replace(was, waits_for="", event_at=max(was.event_at, change.at))
        case RunDelivered():
            return replace(was, delivery=change.delivery)
        case RunSpent():
            return replace(was, spent=True)
        case RunTraced():
            return _traced(was, change)
        case RunCautioned():
            return replace(was, cautioned_at=change.at, repeated=change.repeated, tool_requests=())
        case RunToolRequested():
            return replace(was, tool_requests=(*was.tool_requests, change.tool_request)[-TOOL_REQUESTS_KEPT:])
        case RunMetered():
            return replace(was, usage=change.usage)
        case RunEnding():
            return replace(was, ending=change.ending, ending_at=change.at)


def _believed(was: Run, change: RunBelieved) -> Run:
    if was.life is Life.GONE:
        raise IllegalMove(f"run {was.id}: gone to {change.life}")
    return replace(
        was,
        life=change.life,
        turn=change.turn,
        evidence=change.evidence,
        turn_since=change.at,
        since=change.at,
        pid=change.pid or was.pid,
        queued="" if change.life is Life.ALIVE else was.queued,
        pane=change.pane or was.pane,
        exit=change.exit,
        acknowledged=() if change.life is Life.GONE else was.acknowledged,  # it is not listened to any more
        tool_requests=() if change.life is Life.GONE else was.tool_requests,
        lasted=was.lasted + (max(change.at - was.since, 0.0) if _lived(was) else 0.0),
    )


def _lived(was: Run) -> bool:
    """Return whether the time since the last change of belief was part of its life."""
    return was.life not in NOT_BEGUN and (was.life is not Life.UNREACHABLE or was.pid is not None)


def _traced(was: Run, change: RunTraced) -> Run:
    now = replace(
        was,
        stage=change.stage,
        records=change.records,
        recorded_at=change.recorded_at,
        novel_at=change.novel_at,
        returned_at=change.returned_at,
    )
    if not change.evidence:
        return now
    return replace(now, turn=Turn.BUSY, evidence=change.evidence, turn_since=change.at, quiet=None)


def _signalled(was: Run, change: RunSignalled) -> Run:
    return replace(
        was,
        turn=change.turn,
        evidence=change.evidence,
        turn_since=change.at,
        event_at=change.at if change.alive else was.event_at,
        session=change.session or was.session,
        transcript=change.transcript or was.transcript,
        waits_for=change.name if change.waits else was.waits_for,
        acknowledged=(*was.acknowledged, change.name)[-ACKNOWLEDGED_KEPT:],
    )
