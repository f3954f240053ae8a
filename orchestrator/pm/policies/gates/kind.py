"""What a gate is: the four questions that the PM asks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind

if TYPE_CHECKING:
    from orchestrator.model.handoff import Report
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


@dataclass(frozen=True, slots=True)
class Judgement:
    """A gate's judgement of a report: why it must be written again, why the work is rejected, or neither."""

    again: str = ""
    rejected: str = ""


PASSES: Final = Judgement()
"""The judgement of a gate that finds nothing wrong."""


class GateKind:
    """A gate that lets everything pass: each gate overrides what it needs.

    Gates are pure: they read no clock, file or process. What a gate needs to know of the outside world is in the
    report, or is requested by an action whose outcome is a fact.
    """

    form: str = ""
    """The section that a report needs for this gate, as the agent reads it: a heading and how to fill it."""

    sections: tuple[str, ...] = ()
    """The titles of the sections that `judge` reads with `Report.section`; other sections of a report are dropped."""

    def judge(self, step: Step, report: Report) -> Judgement:
        """Judge a report by its content, and by what the daemon observed of the step."""
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
        """Do what ends the wait: order an action, or ask the user, which is the default.

        It is called each time the gate holds the step, and must lead to a fact after which `holds` is asked again.
        """
        from orchestrator.pm.plan.asking import APPROVE, REJECT, ask  # late, as in `GATES`

        here = draft.step(step)
        begin_checking(draft, step, "waits for approval")
        text = f"Do you approve of '{here.title}' (handoffs/{here.report})?"
        ask(draft, step, text, (APPROVE, REJECT), QuestionKind.APPROVAL)


def begin_checking(draft: Draft, step: str, why: str) -> None:
    """Mark a step as handed in, while its gates are not yet passed."""
    from orchestrator.pm.state.step_changes import StepMoved

    if draft.step(step).state is not StepState.CHECKING:
        draft.change(StepMoved(step, StepState.CHECKING, draft.at, why))


def awaited(draft: Draft, step: str, attempt: int) -> bool:
    """Return whether the outcome of an action still matters: its step may have been opened again meanwhile."""
    here = draft.step(step)
    return here.state is StepState.CHECKING and here.attempt == attempt
