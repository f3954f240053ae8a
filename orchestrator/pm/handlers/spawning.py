"""A user adds an agent to a task: the loose steps of it, and of those who judge them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import Gate
from orchestrator.model.task import TaskState
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.plan.families import family_of
from orchestrator.pm.plan.plan_edits import JUDGING, judges_of_the_whole, wait_for
from orchestrator.pm.plan.readiness import has_pm
from orchestrator.pm.policies.reopen import reopen
from orchestrator.pm.state.changes import (
    BriefTaken,
    CriteriaMarked,
    RequestAcknowledged,
    TaskMoved,
)
from orchestrator.pm.state.step_changes import StepAdded, StepOrdered

if TYPE_CHECKING:
    from orchestrator.model.agents import Agent
    from orchestrator.model.facts import SpawnAsked
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


STATE_NAMES: Final = {TaskState.PARTIAL: "complete in part", TaskState.WAITING: "waiting for an answer"}
"""States that are shown to a person in other words than their own."""


def spawn_asked(draft: Draft, fact: SpawnAsked) -> None:
    """Add a step on the user's request, outside the plan."""
    draft.change(RequestAcknowledged(fact.request))
    settled = draft.state.steps.first(draft.state.steps.unsettled) is None  # an abandoned task has steps left
    over = draft.state.state in {TaskState.COMPLETE, TaskState.PARTIAL} and settled
    if not over and draft.state.state not in ACTIVE:
        state = STATE_NAMES.get(draft.state.state, draft.state.state)
        draft.reply = f"{draft.state.name} is {state}: start it again first"
        draft.refused = True
        # Who gave it while no daemon ran is not there any more to read the reply.
        draft.notice(
            f"the order for {fact.agent.name} was not taken: {draft.reply}, and give the order again"
        )
        return
    if over:
        draft.change(TaskMoved(TaskState.RUNNING, f"{fact.agent.name} was asked for", draft.at))
    draft.change(BriefTaken(draft.state.brief, {**draft.state.agents, fact.agent.name: fact.agent}))
    added = add_loose_steps(draft, fact.agent, fact.instructions)
    if has_pm(draft.state):
        draft.change(
            *(StepOrdered(step) for step in added)
        )  # the user ordered them: the PM agent is not asked
    judged = f"; what it does is judged by {' and '.join(added[1:])}" if added[1:] else ""
    draft.reply = f"{fact.agent.name} is to work on step {added[0]}{judged}"


def add_loose_steps(
    draft: Draft, agent: Agent, instructions: str, *, unplanned: bool = False
) -> tuple[str, ...]:
    """Add the steps of an order outside the plan, and their judges; the last review waits for them. Return the ids.

    If the order is to change the work, a review of the whole that was begun or passed is repeated after it.
    `unplanned`: the PM agent gave that order.
    """
    number = _free_number(draft.state, agent.name)
    steps = family_of(draft.state.brief).loose_steps(draft.state.brief, agent, number, instructions)
    added = [replace(step, since=draft.at) for step in steps]
    added[0] = replace(added[0], unplanned=unplanned)
    draft.change(*(StepAdded(step) for step in added))
    if Gate.COMMIT in steps[0].gates or Gate.CHANGED in steps[0].gates:
        _judge_the_whole_again(draft, f"{steps[0].id} changes what it judged")
    wait_for(draft, [steps[-1].id])
    return tuple(step.id for step in steps)


def _judge_the_whole_again(draft: Draft, why: str) -> None:
    """Reopen the reviews of the whole that were begun or passed: what they said no longer holds."""
    for judge in judges_of_the_whole(draft.state):
        if judge.state in JUDGING:
            reopen(draft, judge.id, why)
            draft.change(CriteriaMarked(()))


def _free_number(state: PMState, agent: str) -> int:
    """Return the first number that makes a new name, with the agent's, among steps, trees and subtasks."""
    steps = state.steps.values()
    taken = set(state.steps).union(*((step.workspace, step.subtask) for step in steps))
    number = sum(step.agent == agent for step in state.steps.values()) + 1
    while f"{agent}-{number}" in taken:
        number += 1
    return number
