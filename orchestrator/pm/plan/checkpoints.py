"""Checkpoints: several agents' work, judged in one run, with a verdict each.

::

    do:A ─▶ verify:A waits ─┐                    ┌─▶ verify:A passes, its work is merged
                            ├─▶ verify:CHECKPOINT ┤
    do:B ─▶ verify:B waits ─┘                    └─▶ B fails: do:B again, and the checkpoint again, for B alone

`verify:A` has no run of its own: it waits, checked, until the checkpoint gives it its verdict. The checkpoint opens
when everything that it judges is handed in or given up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.plan import Gate, StepState
from orchestrator.pm.state.step_changes import StepMoved, StepReopened

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


def await_checkpoints(draft: Draft) -> None:
    """Let what was handed in wait for its checkpoint, and open each checkpoint again that has something to judge."""
    steps = draft.state.steps
    if not steps.joint:
        return
    for step in steps.among(steps.pending & steps.ready & steps.joint):
        draft.change(StepMoved(step.id, StepState.WORKING, draft.at, "handed in"))
        draft.change(StepMoved(step.id, StepState.CHECKING, draft.at, "waits for its checkpoint"))
    for step in list(draft.state.steps.values()):
        if Gate.CHECKPOINT not in step.gates:
            continue
        left = left_to_judge(draft.state, step)
        if left and step.state is StepState.PASSED:
            why = "some of its subjects have no verdict yet"
            draft.change(StepReopened(step.id, step.attempt + 1, draft.at, why))
        elif not left and step.state is StepState.PENDING:
            why = "there is nothing left to judge"
            draft.change(StepMoved(step.id, StepState.SET_ASIDE, draft.at, why, replaced=True))


def left_to_judge(state: PMState, checkpoint: Step) -> tuple[str, ...]:
    """Return the agents whose work has neither passed a checkpoint nor been given up."""
    steps = state.steps
    return tuple(
        judge.subtask
        for work in checkpoint.after
        for judge in steps.among(steps.judges_of(work) & steps.joint)
        if not (judge.approved or judge.settled)
    )
