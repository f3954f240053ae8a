"""Going on: which steps may start now, what their runs are told, and where the task then stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import End, Launch
from orchestrator.model.handoff import Order
from orchestrator.model.plan import Step, StepState
from orchestrator.model.run import Ending, Purpose, Run
from orchestrator.model.task import Phase, TaskState
from orchestrator.pm.changes import (
    OrderClosed,
    OrderGiven,
    PhaseMoved,
    RunEnding,
    RunOpened,
    StepMoved,
    TaskMoved,
)
from orchestrator.pm.orders import context_for, criteria_for, instructions_for, order_name
from orchestrator.pm.transitions import phase_path

if TYPE_CHECKING:
    from orchestrator.pm.draft import Draft
    from orchestrator.pm.state import PMState

ACTIVE: Final = frozenset({TaskState.RUNNING, TaskState.WAITING})
_RESTS: Final = frozenset({StepState.BLOCKED, StepState.FAILED})
_IN: Final = frozenset({StepState.PASSED, StepState.CHECKING})
_SETTLED: Final = frozenset({StepState.PASSED, StepState.SET_ASIDE})


def advance(draft: Draft) -> None:
    """Start every step that may start, then say where the task stands."""
    if draft.state.state in ACTIVE:
        for step in list(draft.state.steps):
            _drop_hopeless(draft, step)
        if not held(draft.state):
            for step in list(draft.state.steps):
                if may_start(draft.state, draft.step(step), draft.at, draft.limits.runs_at_once):
                    start(draft, step)
    settle(draft)


def held(state: PMState) -> bool:
    """True while a question about the whole task is open: then nothing new starts."""
    return any(not question.step for question in state.open_questions)


def may_start(state: PMState, step: Step, at: float, runs_at_once: int) -> bool:
    """Tell whether a pending step has what it waits for: its needs, its time, its workspace, a free place."""
    if step.state is not StepState.PENDING or at < step.not_before:
        return False
    live = state.live_runs
    return (
        len(live) < runs_at_once
        and all(state.steps[need].state is StepState.PASSED for need in step.needs)
        and (not step.judges or state.steps[step.judges].state in _IN)
        and all(state.steps[before].settled for before in step.after)
        and not any(
            run.step == step.id or _same_tree(state.steps[run.step], step) or _leaving(run, step)
            for run in live
        )
        and not (step.subtask and not step.judges and _another_under_way(state, step.subtask))
    )


def _another_under_way(state: PMState, subtask: str) -> bool:
    """Tell whether another subtask is between its first and its last step.

    One at a time, so that each starts from all that was accepted before and the branch only moves forward.
    A subtask that waits for an answer does not hold up the others (law 10).
    """
    chains: dict[str, list[StepState]] = {}
    for step in state.steps.values():
        if step.subtask and step.subtask != subtask:
            chains.setdefault(step.subtask, []).append(step.state)
    return any(
        not _RESTS.intersection(states) and any(there is not StepState.PENDING for there in states)
        for states in chains.values()
        if not all(there in _SETTLED for there in states)
    )


def _leaving(run: Run, step: Step) -> bool:
    """Tell whether the agent of a step has reported elsewhere and is about to go: its place is awaited."""
    return run.agent == step.agent and run.reported_at is not None


def _same_tree(one: Step, other: Step) -> bool:
    return (one.kind, one.workspace) == (other.kind, other.workspace)


def _drop_hopeless(draft: Draft, step: str) -> None:
    """Set a step aside when something that it needs was set aside."""
    here = draft.step(step)
    if here.state is not StepState.PENDING:
        return
    for need in here.needs:
        if draft.step(need).state is StepState.SET_ASIDE:
            why = f"needs {need}, which was set aside"
            draft.change(StepMoved(step, StepState.SET_ASIDE, draft.at, why))
            return


def start(draft: Draft, step: str) -> None:
    """Begin or go on with a step's attempt: first the command that the daemon runs itself, then the agent."""
    here = draft.step(step)
    agent = draft.state.agents.get(here.agent)
    draft.change(StepMoved(step, StepState.WORKING, draft.at, keep_tree=here.keep_tree))
    if agent is not None and agent.check and here.check_exit is None:
        _open(draft, here, Purpose.CHECK, instance=f"{here.agent}-check")
    else:
        open_work(draft, step)


def open_work(draft: Draft, step: str) -> None:
    """Give a step's agent its order and a run."""
    here = draft.step(step)
    taken = {run.instance for run in draft.state.live_runs}
    instance = next(
        name
        for number in range(1, len(taken) + 2)
        if (name := here.agent if number == 1 else f"{here.agent}-{number}") not in taken
    )
    run = _open(draft, here, Purpose.WORK, instance=instance)
    order = Order(
        name=run.order,
        run=run.id,
        step=step,
        target=instance,
        at=float(draft.new_order_second()),
        instructions=instructions_for(here),
        context=context_for(draft.state, here),
        criteria=criteria_for(draft.state, here),
    )
    draft.change(OrderGiven(order))


def _open(draft: Draft, step: Step, purpose: Purpose, instance: str) -> Run:
    name = order_name(draft.new_order_second()) if purpose is Purpose.WORK else ""
    run = Run(
        id=draft.new_id("r"),
        step=step.id,
        attempt=step.attempt,
        agent=step.agent,
        instance=instance,
        purpose=purpose,
        opened_at=draft.at,
        since=draft.at,
        progress_at=draft.at,
        order=name,
    )
    draft.change(RunOpened(run))
    draft.act(Launch(id=draft.new_id("a"), run=run.id))
    return run


def end_run(draft: Draft, run: Run, ending: Ending) -> None:
    """End one run. Its order stays open until it is gone, so that its last words are still read (law 5)."""
    if run.ending is Ending.NOT:
        draft.change(RunEnding(run.id, ending))
        draft.act(End(id=draft.new_id("a"), run=run.id))


def close_order(draft: Draft, run: Run) -> None:
    """Expect no report on a run's order any more."""
    if run.order in draft.state.orders:
        draft.change(OrderClosed(run.order))


def settle(draft: Draft) -> None:
    """Say where the task stands: its state, and the phase of its earliest open step (H10)."""
    state = draft.state
    if state.state in ACTIVE:
        open_steps = [step for step in state.steps.values() if not step.settled]
        if not open_steps and not state.live_runs and not state.open_questions:
            _move_phase(draft, Phase.COMPLETE)
            draft.change(TaskMoved(TaskState.COMPLETE, "every step is settled"))
            return
        waiting = bool(state.open_questions) and not _anything_moves(draft)
        wanted = TaskState.WAITING if waiting else TaskState.RUNNING
        if state.state is not wanted:
            draft.change(TaskMoved(wanted, "waits for an answer" if waiting else "goes on"))
        if waiting:
            _move_phase(draft, Phase.BLOCKED)
        elif open_steps:
            _move_phase(draft, open_steps[0].phase)


def _anything_moves(draft: Draft) -> bool:
    state = draft.state
    if state.live_runs or state.outbox:
        return True
    return not held(state) and any(
        step.state is StepState.PENDING and step.not_before > draft.at for step in state.steps.values()
    )


def _move_phase(draft: Draft, goal: Phase) -> None:
    for phase in phase_path(draft.state.phase, goal):
        draft.change(PhaseMoved(phase))
