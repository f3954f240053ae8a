"""The table of how an agent of a workflow gets from one status to another, and who may bring that about.

Statuses and moves are those of the WF document; where it says "any status", the table says which. What is not in the
table is refused, and changes nothing. One turn end is two moves: an agent that goes from working to ready in one write
has reviewed its notes on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from orchestrator.model.workflow_records import AgentEvent as E
from orchestrator.model.workflow_records import AgentStatus as S
from orchestrator.model.workflow_records import Writer as W


class Move(NamedTuple):
    """One row: from any of these statuses to another, by an event, if one of these writers brings it."""

    sources: tuple[S, ...]
    target: S
    event: E
    writers: tuple[W, ...]
    when: str
    """What the row means, for the reference."""


UNVERIFIED: Final = (S.PENDING, S.WORKING, S.REVIEW, S.READY, S.BLOCKED, S.FAILED)

_DAEMON: Final = (W.DAEMON,)
_USER: Final = (W.USER,)
_OWN: Final = (W.OWN_RUN,)


def _but(target: S) -> tuple[S, ...]:
    """Return every status before a pass from which this one can be reached."""
    return tuple(status for status in UNVERIFIED if status is not target)


MOVES: Final = (
    Move((S.PENDING,), S.WORKING, E.LAUNCH, _DAEMON, "all its needs are verified"),
    Move((S.WORKING,), S.REVIEW, E.THINKS_DONE, _OWN, "it thinks that it is done, and reviews its notes"),
    Move((S.WORKING, S.REVIEW), S.BLOCKED, E.ESCALATED, _OWN, "it has escalated notes"),
    Move((S.REVIEW,), S.READY, E.CLAIMS_READY, _OWN, "its notes are resolved; outputs and evidence exist"),
    Move((S.WORKING,), S.READY, E.CLAIMS_READY, _OWN, "the same, and it reviewed its notes in the same turn"),
    Move(
        (S.READY,), S.VERIFIED, E.PASS, (W.VERIFIER_RUN,), "its verifier passed it, and its work was merged"
    ),
    Move((S.READY,), S.WORKING, E.FAIL, _DAEMON, "its verifier named missing evidence"),
    Move((S.READY,), S.WORKING, E.CONFLICT, _DAEMON, "its work could not be merged"),
    Move((S.READY,), S.WORKING, E.INPUT_CHANGED, _DAEMON, "a declared input changed"),
    Move((S.READY,), S.WORKING, E.GUIDE, _USER, "the user guides a proof of concept"),
    Move((S.PENDING, S.VERIFIED), S.WORKING, E.QUESTION, _DAEMON, "it is on call, and is asked"),
    Move((S.WORKING,), S.PENDING, E.ANSWER_TAKEN, _DAEMON, "it is a resolver, and its answers hold"),
    Move((S.VERIFIED,), S.WORKING, E.INPUT_CHANGED, _DAEMON, "a declared input changed"),
    Move(
        (S.VERIFIED, S.READY, S.BLOCKED),
        S.WORKING,
        E.REINSTRUCTED,
        _DAEMON,
        "instructions, evidence or outputs were edited",
    ),
    Move((S.BLOCKED,), S.WORKING, E.ANSWERED, _DAEMON, "no note is escalated any more"),
    Move((S.BLOCKED,), S.WORKING, E.RETRY, _USER, "the user wants it tried again"),
    Move((S.BLOCKED,), S.WORKING, E.GUIDE, _USER, "the user gave guidance after a bound"),
    Move((S.BLOCKED,), S.WORKING, E.MODIFY, _USER, "the user changed its instructions after a bound"),
    Move(
        _but(S.BLOCKED),
        S.BLOCKED,
        E.BOUND_ASKS,
        _DAEMON,
        "something was repeated as often as its bound allows",
    ),
    Move(
        _but(S.FAILED), S.FAILED, E.CRASHES_EXHAUSTED, _DAEMON, "it crashed once more than its bound allows"
    ),
    Move(_but(S.FAILED), S.FAILED, E.ABANDON, _USER, "the user gave it up"),
    Move((S.FAILED,), S.WORKING, E.RETRY, _USER, "the user wants it tried again"),
    Move((S.FAILED,), S.WORKING, E.GUIDE, _USER, "the user gave guidance"),
    Move((S.FAILED,), S.WORKING, E.MODIFY, _USER, "the user changed its instructions"),
    Move(_but(S.PENDING), S.PENDING, E.NEED_ADDED, _DAEMON, "an edit gave it a need that is not verified"),
    Move((S.VERIFIED,), S.COMPLETE, E.WORKFLOW_ENDED, _DAEMON, "the workflow ended, its session is archived"),
)


class Reason(StrEnum):
    """Why a move is refused."""

    NOT_FROM_HERE = "not_from_here"  # the event means nothing in this status
    NOT_BY_THIS_WRITER = "not_by_this_writer"  # somebody else may bring it


@dataclass(frozen=True, slots=True)
class Refusal:
    """A move that is not made. `writers` are those who could bring it."""

    reason: Reason
    status: S
    event: E
    writer: W
    writers: tuple[W, ...] = ()

    def __str__(self) -> str:
        """Return a sentence for the next order of the author, or for the user."""
        match self.reason:
            case Reason.NOT_FROM_HERE:
                return f"the status {self.status} stays: {self.event} means nothing there"
            case Reason.NOT_BY_THIS_WRITER:
                return f"the status {self.status} stays: {self.event} comes from {' or '.join(self.writers)}"


_ROWS: Final = {(source, move.event): move for move in MOVES for source in move.sources}

_CLAIMS: Final = {
    S.REVIEW: E.THINKS_DONE,
    S.BLOCKED: E.ESCALATED,
    S.READY: E.CLAIMS_READY,
    S.VERIFIED: E.PASS,
}


def transition(status: S, event: E, writer: W) -> S | Refusal:
    """Return the status that follows, or why the event changes nothing."""
    move = _ROWS.get((status, event))
    if move is None:
        return Refusal(Reason.NOT_FROM_HERE, status, event, writer)
    if writer not in move.writers:
        return Refusal(Reason.NOT_BY_THIS_WRITER, status, event, writer, move.writers)
    return move.target


def claimed_event(written: S) -> E | None:
    """Return the event that a run claims by writing a status into the file; None for one that no run may write."""
    return _CLAIMS.get(written)
