"""Which life of its tree a step works in, and in what state a run finds that tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.plan import Gate
from orchestrator.model.run import Ending, Purpose
from orchestrator.model.task import WorkspaceKind
from orchestrator.pm.plan.work_location import is_prepared, leaves_a_tree, location_of

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.model.task import Location
    from orchestrator.pm.state.task_state import PMState


def lasting_places(state: PMState) -> list[Location]:
    """Return the folders where agents of a task worked and their work stays, because it reaches no tree."""
    config = state.brief.config
    worked = {step.agent: None for step in state.steps.values() if state.runs.last_at_work_on(step.id)}
    kept = (location_of(config, agent) for agent in worked if not leaves_a_tree(config, agent))
    return list(dict.fromkeys(place for place in kept if place is not None))


def makes_ready(state: PMState, step: Step, purpose: Purpose) -> bool:
    """Return whether a run of a step begins in a clean tree, not in what an earlier run left in it."""
    goes_on = step.keep_tree or (step.carries and not step.starts_from)
    return not goes_on and begins_work(state, step, purpose)


def begins_life(state: PMState, step: Step, purpose: Purpose) -> bool:
    """Return whether a run of a step begins in a new folder, which no earlier life of its tree used.

    Processes left behind by an earlier attempt must not write into a later one's tree. An attempt that continues the
    work and the conversation of the last one also keeps its folder, unless that was lost: the programs find a
    conversation again only in the folder in which it began (Gemini CLI, opencode, Claude Code 2.1.197;
    tests/clis/test_whole_task).
    """
    if step.kind is not WorkspaceKind.WORKTREE or not makes_ready(state, step, purpose):
        return False
    last = state.runs.last_at_work_on(step.id)
    return not (
        step.carries and life_of(state, step) and last is not None and last.ending is not Ending.TREE_LOST
    )


def begins_work(state: PMState, step: Step, purpose: Purpose) -> bool:
    """Return whether a run of a step reads the tip of the branch, or is the first that does its work."""
    if not step.workspace or location_of(state.brief.config, step.agent) is not None:
        return False
    first = purpose is _first_purpose(state, step)
    return first and (step.kind is WorkspaceKind.READ_ONLY or Gate.COMMIT in step.gates)


def _first_purpose(state: PMState, step: Step) -> Purpose:
    """Return the purpose of the first run of a try at a step."""
    if is_prepared(state.brief.config, step):
        return Purpose.PREPARE
    agent = state.agents.get(step.agent)
    return Purpose.CHECK if agent is not None and agent.check else Purpose.WORK


def life_of(state: PMState, step: Step) -> int:
    """Return which life of its tree a step works in: the last one begun by any step that shares it; 0 if none."""
    if step.kind is not WorkspaceKind.WORKTREE or not step.workspace:
        return 0
    sharing = state.steps.of_tree(step.kind, step.workspace)
    return max((each.tree_life for each in state.steps.among(sharing)), default=0)
