"""The merge queue: whose work is brought onto the task's branch next.

Subtasks are worked on at the same time, but the branch takes their work one after the other, in the order in which it
passed its judges. Whoever is first keeps its place while its work is put upon what the branch has gained and tested
again: otherwise the next merge would have it tested once more, and so on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.actions import Inspect, Merge

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.steps import Marks, Steps
    from orchestrator.pm.state.task_state import PMState


def first_in_queue(state: PMState) -> Step | None:
    """Return the step whose work is merged next; None if nothing waits to be merged.

    Work of which a step waits for an answer, or for its time, keeps its place but holds nobody up (law 10).
    """
    steps = state.steps
    stands = steps.resting | steps.pausing
    moving = [step for step in steps.among(steps.queued) if not stands & _concerned(steps, step)]
    return min(moving, key=lambda step: step.queued_at, default=None)


def is_merging(state: PMState) -> bool:
    """Return whether the branch is being moved now."""
    return any(isinstance(action, Merge) for action in state.outbox.values())


def work_judged_by(state: PMState, step: Step) -> Step:
    """Return the step whose work a step has merged: the one that it judges, or itself."""
    return state.steps[step.judges] if step.judges else step


def is_quiet(state: PMState, work: Step) -> bool:
    """Return whether nobody is in the tree of some work any more, and it is known what its judges left there."""
    steps = state.steps
    there = steps.of_tree(work.kind, work.workspace)
    busy = [run.step for run in state.live_runs]
    busy += [action.step for action in state.outbox.values() if isinstance(action, Inspect)]
    return not any(there & steps.mark(step) for step in busy)


def _concerned(steps: Steps, step: Step) -> Marks:
    """Return the steps that have a part in whether a step's work is merged: the work and all its judges."""
    work = step.judges or step.id
    return steps.mark(step.id) | steps.mark(work) | steps.judges_of(work)
