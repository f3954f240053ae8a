"""How changes alter what is known of one run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.run import Life
from orchestrator.pm import changes as c
from orchestrator.pm.transitions import IllegalMove

if TYPE_CHECKING:
    from typing import TypeAlias

    from orchestrator.model.run import Run

    RunChange: TypeAlias = (
        c.RunBelieved
        | c.RunReported
        | c.RunProgressed
        | c.RunWatched
        | c.RunLooked
        | c.RunNudged
        | c.RunTold
        | c.RunAnswered
        | c.RunDelivered
        | c.RunSpent
        | c.RunMetered
        | c.RunEnding
    )

HEARD_KEPT: Final = 64
"""How many events of a run are remembered by name: those of which the files may still lie there."""


def run_after(was: Run, change: RunChange) -> Run:  # noqa: C901 (a case per change)
    """Return a run as it is after a change.

    Raises:
        IllegalMove: a run that is gone would come back.

    """
    match change:
        case c.RunBelieved():
            return _believed(was, change)
        case c.RunReported():
            return replace(was, reported_at=change.at, progress_at=change.at)
        case c.RunProgressed():
            return replace(was, progress_at=change.at, looks=0, quiet=None)
        case c.RunWatched():
            return replace(was, looked_at=change.at, looks=was.looks + 1)
        case c.RunLooked():
            return replace(
                was,
                quiet=change.quiet,
                turn=change.turn,
                evidence=change.evidence,
                cpu=change.cpu,
                printed=change.printed,
                looked_at=change.at,
            )
        case c.RunNudged():
            return replace(was, nudges=was.nudges + 1)
        case c.RunTold():
            return _told(was, change)
        case c.RunAnswered():
            return replace(was, waits_for="")
        case c.RunDelivered():
            return replace(was, delivery=change.delivery)
        case c.RunSpent():
            return replace(was, spent=True)
        case c.RunMetered():
            return replace(was, usage=change.usage)
        case c.RunEnding():
            return replace(was, ending=change.ending)


def _believed(was: Run, change: c.RunBelieved) -> Run:
    if was.life is Life.GONE:
        raise IllegalMove(f"run {was.id}: gone to {change.life}")
    return replace(
        was,
        life=change.life,
        turn=change.turn,
        evidence=change.evidence,
        since=change.at,
        pid=change.pid or was.pid,
        pane=change.pane or was.pane,
        exit=change.exit,
        heard=() if change.life is Life.GONE else was.heard,  # nobody listens to it any more
        lasted=was.lasted + (max(change.at - was.since, 0.0) if _lived(was) else 0.0),
    )


def _lived(was: Run) -> bool:
    """Tell whether the time since it was last believed otherwise was part of its life."""
    return was.life is not Life.STARTING and (was.life is not Life.UNREACHABLE or was.pid is not None)


def _told(was: Run, change: c.RunTold) -> Run:
    return replace(
        was,
        turn=change.turn,
        evidence=change.evidence,
        turn_since=change.at,
        session=change.session or was.session,
        transcript=change.transcript or was.transcript,
        waits_for=change.name if change.waits else was.waits_for,
        heard=(*was.heard, change.name)[-HEARD_KEPT:],
    )
