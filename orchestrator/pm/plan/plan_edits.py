"""Edits of a running plan are validated like a new one: bounded, acyclic, unique ids, known agents (H4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import Gate, StepState, Tally
from orchestrator.model.task import Phase
from orchestrator.pm.plan.families import family_of
from orchestrator.pm.state.step_changes import StepAdded, StepMoved, StepRewired

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from orchestrator.model.agents import Agent
    from orchestrator.model.handoff import Subtask
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

JUDGING: Final = frozenset({StepState.WORKING, StepState.CHECKING, StepState.PASSED})
"""States of a judge that has begun, or passed: what it judges is the work as it was then."""


def edit_plan(draft: Draft, subtasks: Sequence[Subtask]) -> str:
    """Turn subtasks into steps of the plan. Return why that is impossible; empty if it is done.

    A subtask that was begun stays as it is. One that was not is planned anew if it is listed again, and set aside if
    it is not.
    """
    begun = _begun(draft.state)
    trees = {step.workspace for step in draft.state.steps.values() if not step.subtask}
    faults = faults_of(
        subtasks, begun=begun, trees=trees, agents=draft.state.agents, most=draft.limits.max_subtasks
    )
    faults += _taken(draft.state, [each for each in subtasks if each.id not in begun])
    if faults:
        return "; ".join(faults[:10])
    named = {subtask.id for subtask in subtasks}
    for step in list(draft.state.steps.values()):
        dropped = step.subtask and step.subtask not in begun | named
        if dropped and step.state is not StepState.SET_ASIDE:
            why = "it is not in the plan any more"
            draft.change(StepMoved(step.id, StepState.SET_ASIDE, draft.at, why, replaced=True))
    fresh = [subtask for subtask in subtasks if subtask.id not in begun]
    _add(draft, family_of(draft.state.brief).subtask_steps(draft.state.brief, fresh, draft.state.steps))
    return ""


def _taken(state: PMState, subtasks: Sequence[Subtask]) -> list[str]:
    """Return why ids of subtasks cannot be used: a step of the plan that belongs to none of them has the same id."""
    steps = state.steps
    return [
        f"the subtask id {subtask.id} is taken by {step.id}: choose another"
        for subtask in subtasks
        for step in family_of(state.brief).subtask_steps(state.brief, [subtask], steps)
        if step.subtask and step.id in steps and steps[step.id].subtask != subtask.id
    ]


def _begun(state: PMState) -> frozenset[str]:
    """Return the subtasks that were begun and not given up."""
    return frozenset(
        step.subtask
        for step in state.steps.values()
        if step.subtask
        and step.state is not StepState.SET_ASIDE
        and (step.state is not StepState.PENDING or step.attempt > 1 or step.tally != Tally())
    )


def planner(state: PMState) -> Step | None:
    """Return the step that plans: its report lists the subtasks, or is the first handoff of a line of roles.

    None if the plan has none.
    """
    steps = state.steps.values()
    lists = next((step for step in steps if Gate.SUBTASKS in step.gates), None)
    return lists or next((step for step in steps if plans_a_line(step)), None)


def plans_a_line(step: Step) -> bool:
    """Return whether a step plans by handing on to the next role: all else is done again after it."""
    return Gate.HANDOFF in step.gates and not step.needs


def judges_of_the_whole(state: PMState) -> list[Step]:
    """Return the steps that judge the task's success criteria."""
    return [step for step in state.steps.values() if Gate.CRITERIA in step.gates]


def wait_for(draft: Draft, steps: Sequence[str]) -> None:
    """Make the steps that judge the whole task wait for these steps, unless they have begun or passed."""
    for judge in judges_of_the_whole(draft.state):
        if judge.state not in JUDGING and not set(steps) <= {judge.id, *judge.after}:
            draft.change(StepRewired(judge.id, tuple(dict.fromkeys([*judge.after, *steps]))))


def _add(draft: Draft, steps: Sequence[Step]) -> None:
    """Add steps, replacing those of the same name; the judges of the whole task wait for all their reviews."""
    for step in steps:
        old = draft.state.steps.get(step.id)
        attempt = old.attempt + 1 if old else 1
        life = old.tree_life if old else 0  # never reuse a folder: something may still write into it
        draft.change(StepAdded(replace(step, since=draft.at, attempt=attempt, tree_life=life)))
    wait_for(
        draft,
        [step.id for step in steps if step.phase is Phase.REVIEWING and Gate.CRITERIA not in step.gates],
    )


def faults_of(
    subtasks: Sequence[Subtask],
    *,
    begun: Collection[str],
    trees: Collection[str],
    agents: Mapping[str, Agent],
    most: int,
) -> list[str]:
    """Return every reason why these subtasks make no valid plan; an empty list if they do.

    `begun` are the subtasks that stay in any case, `trees` the names of other steps' workspaces.
    """
    faults = []
    ids = [subtask.id for subtask in subtasks]
    if (together := len(set(ids).union(begun))) > most:
        faults.append(f"{together} subtasks are more than the {most} that one plan may have")
    faults += [f"the subtask id {each} is taken: choose another" for each in ids if each in trees]
    faults += [f"the subtask id {each} is used {n} times" for each, n in Counter(ids).items() if n > 1]
    everyone = set(ids).union(begun)
    for subtask in subtasks:
        if subtask.agent not in agents:
            faults.append(
                f"subtask {subtask.id} names the agent {subtask.agent}, and there is none of that name"
            )
        faults += [
            f"subtask {subtask.id} needs {need}, and there is no such subtask"
            for need in subtask.needs
            if need not in everyone
        ]
    try:
        TopologicalSorter({subtask.id: subtask.needs for subtask in subtasks}).prepare()
    except CycleError as error:
        faults.append(f"the subtasks wait for each other in a circle: {' -> '.join(error.args[1])}")
    return faults
