"""Which pending steps may start: their needs, their time, their tree, and a free slot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Inspect
from orchestrator.model.agents import Role

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.steps import Marks, Steps
    from orchestrator.pm.state.task_state import PMState


EVERY: Final = -1
"""Every step: all bits."""

OPEN: Final = math.inf
"""When steps may start that wait for the PM agent's decision: never by time alone."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The steps that only wait for their time, at one moment: `admitted` of `steps`.

    Live runs occupy slots, steps and trees. A step that was only to look keeps its slot and tree until it is known
    whether it changed anything. An agent that has reported and is about to exit is also occupied: waiting for it
    avoids a second instance of the same agent.
    """

    steps: Steps
    admitted: Marks

    def first(self, at: float, after: Marks = 0, among: Marks = EVERY) -> Step | None:
        """Return the first step that may start at a moment: one of `among`, after the step `after` in the plan."""
        # All bits from that of `after` on, and without it: -(after << 1) has exactly those set.
        left = self.admitted & among & (-(after << 1) if after else EVERY)
        return next((step for step in self.steps.among(left) if at >= step.not_before), None)


def floor_of(state: PMState, runs_at_once: int) -> Floor:
    """Return what is free now."""
    steps, live, looks = state.steps, state.live_runs, _looks(state)
    left = steps.pending & steps.ready
    if len(live) + len(looks) >= runs_at_once or not left:
        return Floor(steps, 0)
    for run in live:
        step = steps[run.step]
        left &= ~(steps.mark(step.id) | steps.of_tree(step.kind, step.workspace))
        if run.reported_at is not None:
            left &= ~steps.of_agent(run.agent)
    for step in looks:
        left &= ~steps.of_tree(step.kind, step.workspace)
    return Floor(steps, left & _whose_turn_it_is(steps))


def _looks(state: PMState) -> list[Step]:
    """Return the steps that only looked, and that are being inspected for changes."""
    steps = (state.steps[each.step] for each in state.outbox.values() if isinstance(each, Inspect))
    return [step for step in steps if step.workspace]


def held(state: PMState) -> bool:
    """Return whether a question about the whole task is open: then nothing new starts."""
    return any(not question.step for question in state.open_questions)


def next_start(state: PMState, runs_at_once: int) -> float | None:
    """Return the next moment at which a step may start that only waits for its time, or None.

    A step that also waits for something else is checked when that happens, not when its time comes.
    """
    steps = state.steps
    if held(state):
        return None
    ordered, others_from = left_by_pm(state)
    if others_from:
        return _next_start_led(state, floor_of(state, runs_at_once), ordered, others_from)
    if not steps.pausing:
        return None
    pausing = steps.pausing & floor_of(state, runs_at_once).admitted
    return min((step.not_before for step in steps.among(pausing)), default=None)


def _next_start_led(state: PMState, floor: Floor, ordered: Marks, others_from: float) -> float | None:
    """Return the next start while a PM agent holds back the steps that it did not order."""
    steps, mine = state.steps, floor.admitted & ordered
    moments = [step.not_before for step in steps.among(steps.pausing & mine)]
    if others_from != OPEN:
        rest = floor.admitted & ~mine
        moments += [max(step.not_before, others_from) for step in steps.among(rest)]
    return min(moments, default=None)


def has_pm(state: PMState) -> bool:
    """Return whether an agent is the PM of a task, and was not given up."""
    return bool(state.brief.config.pm) and not state.consultation.given_up and Role.PM.value in state.agents


def left_by_pm(state: PMState) -> tuple[Marks, float]:
    """Return the steps that may start whatever the PM agent decides next, and when all others may.

    While a consultation is open, only the consultation and ordered steps may start. News that came up meanwhile leads
    to the next consultation, not to a start.
    """
    consultation = state.consultation
    if not has_pm(state):
        return EVERY, 0.0
    mine = 0
    for step in (*consultation.ordered, *([consultation.step] if consultation.step else [])):
        mine |= state.steps.mark(step)
    if consultation.step:
        return mine, OPEN
    return mine, 0.0 if consultation.fresh else consultation.held_until


def may_be_ordered(state: PMState) -> Marks:
    """Return the steps that only wait for a slot, a tree or their time."""
    steps = state.steps
    asks = steps.mark(state.consultation.step) if state.consultation.step else 0
    return steps.pending & steps.ready & _whose_turn_it_is(steps) & ~asks


def _whose_turn_it_is(steps: Steps) -> Marks:
    """Return the steps whose turn it is: one subtask at a time, so that each starts from all accepted work.

    A subtask that is repeated goes before one that was never begun.
    """
    if len(steps.under_way) > 1:
        return steps.free
    if steps.under_way:
        (subtask,) = steps.under_way
        return steps.free | steps.of_subtask(subtask)
    again = steps.first(steps.again & steps.pending & steps.ready)
    return steps.free | steps.of_subtask(again.subtask) if again else ~0
