"""Which pending steps may start: what they need, their time, their tree, a free place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.pm.state import PMState
    from orchestrator.pm.steps import Marks, Steps


@dataclass(frozen=True, slots=True)
class Floor:
    """The steps that wait for nothing but their time, at one moment: `admitted` of `steps`.

    Places, steps and trees are taken by live runs. So are agents that have reported elsewhere and are about to
    go: their place is awaited, so that a second instance is only ever one of two at once.
    """

    steps: Steps
    admitted: Marks

    def first(self, at: float, after: Marks = 0) -> Step | None:
        """Return the first step that may start at a moment, of those behind the step `after` in the plan."""
        # All bits from that of `after` on, and without it: -(after << 1) has exactly those set.
        left = self.admitted & -(after << 1) if after else self.admitted
        return next((step for step in self.steps.among(left) if at >= step.not_before), None)


def floor_of(state: PMState, runs_at_once: int) -> Floor:
    """Return what is free now."""
    steps, live = state.steps, state.live_runs
    left = steps.pending & steps.ready
    if len(live) >= runs_at_once or not left:
        return Floor(steps, 0)
    for run in live:
        step = steps[run.step]
        left &= ~(steps.mark(step.id) | steps.of_tree(step.kind, step.workspace))
        if run.reported_at is not None:
            left &= ~steps.of_agent(run.agent)
    return Floor(steps, left & _whose_turn_it_is(steps))


def held(state: PMState) -> bool:
    """True while a question about the whole task is open: then nothing new starts."""
    return any(not question.step for question in state.open_questions)


def next_start(state: PMState, runs_at_once: int) -> float | None:
    """Return the next moment at which a step may start that waits for nothing but its time, or None.

    A step that also waits for something else starts when that comes: its time alone is no reason to look.
    """
    steps = state.steps
    if not steps.pausing or held(state):
        return None
    pausing = steps.pausing & floor_of(state, runs_at_once).admitted
    return min((step.not_before for step in steps.among(pausing)), default=None)


def _whose_turn_it_is(steps: Steps) -> Marks:
    """Return the steps that no other subtask holds up: one at a time, so that each starts from all that was accepted.

    One that is done again goes before one that was never begun.
    """
    if len(steps.under_way) > 1:
        return steps.free
    if steps.under_way:
        (subtask,) = steps.under_way
        return steps.free | steps.of_subtask(subtask)
    again = steps.first(steps.again & steps.pending & steps.ready)
    return steps.free | steps.of_subtask(again.subtask) if again else ~0
