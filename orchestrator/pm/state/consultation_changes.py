"""Changes of a consultation with the PM agent, and the state that follows from each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from orchestrator.model.consultation import ConsultationState, PMAction
from orchestrator.model.plan import Step


@dataclass(frozen=True, slots=True)
class BriefingExtended:
    """News was kept for the next briefing of the PM agent."""

    lines: tuple[str, ...]
    kind: Literal["briefing_extended"] = "briefing_extended"


@dataclass(frozen=True, slots=True)
class ConsultationOpened:
    """The PM agent was asked, with a briefing of the news."""

    step: str
    at: float
    kind: Literal["consultation_opened"] = "consultation_opened"


@dataclass(frozen=True, slots=True)
class DecisionTaken:
    """The PM agent decided. `refused`: why that could not be done. `frees`: the rules may start the other steps."""

    step: str
    name: str
    action: PMAction
    target: str = ""
    refused: str = ""
    frees: bool = False
    kind: Literal["decision_taken"] = "decision_taken"


@dataclass(frozen=True, slots=True)
class ConsultationClosed:
    """A consultation ended, with decisions or without. Steps that were not ordered wait until `held_until`."""

    step: str
    held_until: float = 0.0
    failed: int = 0
    given_up: bool = False
    fresh: bool = False
    kind: Literal["consultation_closed"] = "consultation_closed"


@dataclass(frozen=True, slots=True)
class ConsultationBegun:
    """The task was started again, so the consultation state begins anew."""

    kind: Literal["consultation_begun"] = "consultation_begun"


ConsultationChange: TypeAlias = (
    BriefingExtended | ConsultationOpened | DecisionTaken | ConsultationClosed | ConsultationBegun
)

BRIEFING_KEPT: Final = 24
"""Lines that a briefing holds at most; older ones are dropped."""


def consultation_after(was: ConsultationState, change: ConsultationChange) -> ConsultationState:
    """Return the consultation state after a change."""
    match change:
        case BriefingExtended():
            return replace(was, pending=(*was.pending, *change.lines)[-BRIEFING_KEPT:], fresh=True)
        case ConsultationOpened():
            return replace(
                was,
                number=was.number + 1,
                step=change.step,
                opened_at=change.at,
                briefing=was.pending,
                pending=(),
                fresh=False,
                decided=0,
                carried=0,
                freed=False,
            )
        case DecisionTaken():
            return replace(
                was,
                decided=was.decided + 1,
                carried=was.carried + (not change.refused),
                freed=was.freed or change.frees,
            )
        case ConsultationClosed():
            return replace(
                was,
                step="",
                briefing=(),
                # News on which nothing was decided is shown again.
                pending=was.pending if was.decided else (*was.briefing, *was.pending)[-BRIEFING_KEPT:],
                fresh=change.fresh,
                held_until=change.held_until,
                failed=change.failed,
                given_up=change.given_up,
            )
        case ConsultationBegun():
            return ConsultationState(number=was.number)


def after_step(was: ConsultationState, step: Step, before: Step) -> ConsultationState:
    """Return the consultation state after a step changed: a step that started or was reopened needs a new order."""
    same = step.state is before.state and step.attempt == before.attempt
    return was if same else without_order(was, step.id)


def without_order(was: ConsultationState, step: str) -> ConsultationState:
    """Return the consultation state without the order for a step."""
    if step not in was.ordered:
        return was
    return replace(was, ordered=tuple(each for each in was.ordered if each != step))


def with_order(was: ConsultationState, step: str) -> ConsultationState:
    """Return the consultation state with an order for a step."""
    return was if step in was.ordered else replace(was, ordered=(*was.ordered, step))
