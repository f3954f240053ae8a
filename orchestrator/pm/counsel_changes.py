"""How changes alter what stands between the rules and the PM agent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.consulting import Counsel
from orchestrator.pm import changes as c

if TYPE_CHECKING:
    from typing import TypeAlias

    from orchestrator.model.plan import Step

    CounselChange: TypeAlias = (
        c.NewsNoted | c.ConsultationOpened | c.DecisionTaken | c.ConsultationClosed | c.CounselBegun
    )

NEWS_KEPT: Final = 24
"""Older news is dropped: a digest is short."""


def counsel_after(was: Counsel, change: CounselChange) -> Counsel:
    """Return how it stands after a change."""
    match change:
        case c.NewsNoted():
            return replace(was, news=(*was.news, *change.lines)[-NEWS_KEPT:], fresh=True)
        case c.ConsultationOpened():
            return replace(
                was,
                number=was.number + 1,
                step=change.step,
                opened_at=change.at,
                told=was.news,
                news=(),
                fresh=False,
                decided=0,
                carried=0,
                freed=False,
            )
        case c.DecisionTaken():
            return replace(
                was,
                decided=was.decided + 1,
                carried=was.carried + (not change.refused),
                freed=was.freed or change.frees,
            )
        case c.ConsultationClosed():
            return replace(
                was,
                step="",
                told=(),
                # What nobody decided on is told again.
                news=was.news if was.decided else (*was.told, *was.news)[-NEWS_KEPT:],
                fresh=change.fresh,
                held_until=change.held_until,
                failed=change.failed,
                given_up=change.given_up,
            )
        case c.CounselBegun():
            return Counsel(number=was.number)


def after_step(was: Counsel, step: Step, before: Step) -> Counsel:
    """Return how it stands after a step changed: one that has started, or begins anew, is not ordered any more."""
    same = step.state is before.state and step.attempt == before.attempt
    return was if same else without_order(was, step.id)


def without_order(was: Counsel, step: str) -> Counsel:
    """Return how it stands when a step is not ordered any more."""
    if step not in was.ordered:
        return was
    return replace(was, ordered=tuple(each for each in was.ordered if each != step))


def with_order(was: Counsel, step: str) -> Counsel:
    """Return how it stands when a step was ordered."""
    return was if step in was.ordered else replace(was, ordered=(*was.ordered, step))
