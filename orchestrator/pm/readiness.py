"""Which pending steps may start: what they need, their time, their tree, a free place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import StepState

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.model.task import WorkspaceKind
    from orchestrator.pm.state import PMState

_RESTS: Final = frozenset({StepState.BLOCKED, StepState.FAILED})
_REPORTED: Final = frozenset({StepState.PASSED, StepState.CHECKING})


@dataclass(frozen=True, slots=True)
class Floor:
    """What is taken at one moment: places, steps and trees by live runs, and whose turn it is of the subtasks.

    `under_way` are those between their first and their last step, `next_again` is the first that is to be done
    again from its beginning.

    `leaving` are agents that have reported elsewhere and are about to go: their place is awaited, so that a
    second instance is only ever one of two at once.
    """

    state: PMState
    places: int
    steps: frozenset[str]
    trees: frozenset[tuple[WorkspaceKind, str]]
    under_way: frozenset[str]
    next_again: str
    leaving: frozenset[str]

    def admits(self, step: Step, at: float) -> bool:
        """Tell whether a step may start at a moment."""
        state = self.state
        return (
            step.state is StepState.PENDING
            and at >= step.not_before
            and self.places > 0
            and step.id not in self.steps
            and (step.kind, step.workspace) not in self.trees
            and all(state.steps[need].state is StepState.PASSED for need in step.needs)
            and (not step.judges or state.steps[step.judges].state in _REPORTED)
            and step.agent not in self.leaving
            and all(state.steps[before].settled for before in step.after)
            and (bool(step.judges) or self._is_its_turn(step.subtask))
        )

    def _is_its_turn(self, subtask: str) -> bool:
        """Tell whether a subtask may begin. One at a time, so that each starts from all that was accepted before.

        One that is done again goes before one that was never begun.
        """
        if not subtask:
            return True
        if self.under_way - {subtask}:
            return False
        return subtask in self.under_way or self.next_again in {"", subtask}


def floor_of(state: PMState, runs_at_once: int) -> Floor:
    """Return what is taken now."""
    live = state.live_runs
    worked_on = [state.steps[run.step] for run in live]
    return Floor(
        state,
        places=runs_at_once - len(live),
        steps=frozenset(step.id for step in worked_on),
        trees=frozenset((step.kind, step.workspace) for step in worked_on),
        under_way=_under_way(state),
        next_again=_next_again(state),
        leaving=frozenset(run.agent for run in live if run.reported_at is not None),
    )


def held(state: PMState) -> bool:
    """True while a question about the whole task is open: then nothing new starts."""
    return any(not question.step for question in state.open_questions)


def next_start(state: PMState, runs_at_once: int) -> float | None:
    """Return the next moment at which a step may start that waits for nothing but its time, or None.

    A step that also waits for something else starts when that comes: its time alone is no reason to look.
    """
    if held(state):
        return None
    pausing = [step for step in state.steps.values() if step.state is StepState.PENDING and step.not_before]
    if not pausing:
        return None
    floor = floor_of(state, runs_at_once)
    return min((step.not_before for step in pausing if floor.admits(step, step.not_before)), default=None)


def _under_way(state: PMState) -> frozenset[str]:
    """Return the subtasks between their first and their last step.

    A subtask that waits for an answer does not hold up the others (law 10). One whose agent writes its handoff
    again does: its work lies in its tree.
    """
    begun, rests, open_ = set(), set(), set()
    for step in state.steps.values():
        if step.subtask:
            if step.state is not StepState.PENDING or step.keep_tree:
                begun.add(step.subtask)
            if step.state in _RESTS:
                rests.add(step.subtask)
            if not step.settled:
                open_.add(step.subtask)
    return frozenset((begun & open_) - rests)


def _next_again(state: PMState) -> str:
    """Return the first subtask that was opened again and waits for nothing but its turn, or an empty string."""
    return next(
        (
            step.subtask
            for step in state.steps.values()
            if step.subtask
            and not step.judges
            and step.state is StepState.PENDING
            and step.attempt > 1
            and all(state.steps[need].state is StepState.PASSED for need in step.needs)
            and all(state.steps[before].settled for before in step.after)
        ),
        "",
    )
