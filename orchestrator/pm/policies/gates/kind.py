"""What a gate is: the four questions that the PM asks of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.pm.plan.asking import APPROVE, REJECT, ask
from orchestrator.pm.state.step_changes import StepMoved

if TYPE_CHECKING:
    from orchestrator.model.handoff import Report
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a gate says of a report: why it must be written again, why the work is rejected, or neither."""

    again: str = ""
    rejected: str = ""


PASSES: Final = Judgement()
"""The judgement of a gate that finds nothing wrong."""


class GateKind:
    """A gate that lets everything pass: each gate overrides what it needs.

    All of it is pure: a gate reads no clock, file or process. What it needs of the world stands in the report, or is
    ordered as an action whose outcome is a fact.
    """

    form: str = ""
    """What a report has to hold for this gate, in the words that the agent reads: a heading and how to fill it."""

    sections: tuple[str, ...] = ()
    """The titles of the sections that `judge` reads by `Report.section`; others of a report are not kept."""

    def judge(self, step: Step, report: Report) -> Judgement:
        """Judge a report by what it says, and by what the daemon saw of the step."""
        del step, report
        return PASSES

    def take(self, draft: Draft, step: str, report: Report) -> bool:
        """Act on a report that every gate accepted. Return True to take over: the step then goes on from here."""
        del draft, step, report
        return False

    def holds(self, state: PMState, step: Step) -> bool:
        """Return whether a step whose report was accepted may not pass yet."""
        del state, step
        return False

    def order(self, draft: Draft, step: str) -> None:
        """Do what ends the wait: order an action, or ask the user, as a gate does that does not say otherwise.

        It is called each time the step is held, and must lead to a fact after which `holds` is asked again.
        """
        here = draft.step(step)
        begin_checking(draft, step, "waits for approval")
        text = f"Do you approve of '{here.title}' (handoffs/{here.report})?"
        ask(draft, step, text, (APPROVE, REJECT), QuestionKind.APPROVAL)


def begin_checking(draft: Draft, step: str, why: str) -> None:
    """Say that a step's work is in, and that its gates are not yet through."""
    if draft.step(step).state is not StepState.CHECKING:
        draft.change(StepMoved(step, StepState.CHECKING, draft.at, why))


def awaited(draft: Draft, step: str, attempt: int) -> bool:
    """Return whether the outcome of an action still says something: its step may have been opened again."""
    here = draft.step(step)
    return here.state is StepState.CHECKING and here.attempt == attempt
