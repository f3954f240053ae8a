"""Where an agent works: in a folder of its own that task.md names (HUB 3.3, 5.2; H4), or in a tree of the task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.agents import REMOTE_ROLES
from orchestrator.model.host_names import HERE
from orchestrator.model.plan import Gate
from orchestrator.model.run import Ending, Purpose
from orchestrator.model.task import Bring, WorkspaceKind

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.model.task import Config, Location
    from orchestrator.pm.state.task_state import PMState


def location_of(config: Config, agent: str) -> Location | None:
    """Return the folder of an agent's own, here or on a box; None if it works in the task's trees.

    A box for the whole task applies only to agents that may be remote.
    """
    if agent in config.agents and (own := config.agents[agent].cwd) is not None:
        return own
    everybodys = config.cwd
    return everybodys if everybodys is not None and everybodys.host and agent in REMOTE_ROLES else None


def host_of(config: Config, agent: str) -> str:
    """Return the host on which an agent's runs live."""
    place = location_of(config, agent)
    if place is not None and place.host:
        return place.host
    overrides = config.agents.get(agent)
    return (overrides.host if overrides else "") or config.host or HERE


def leaves_a_tree(config: Config, agent: str) -> bool:
    """Return whether an agent's work ends up in a tree of the task, where others can judge it."""
    place = location_of(config, agent)
    return place is None or (bool(place.host) and config.bring is Bring.BRANCH)


def only_looks(config: Config, step: Step) -> bool:
    """Return whether a step must change nothing where it works, so that this is looked at before and after each run.

    In a tree of the task that is each step whose work is not committed. Elsewhere, in the user's own tree or a folder
    of the agent's own, it is those that judge: what others do there is not for the PM to tell.
    """
    if {Gate.COMMIT, Gate.CHANGED, Gate.DECISION} & set(step.gates) or step.only_check:
        return False
    return in_tree_of_task(config, step) or is_judge(step)


def in_tree_of_task(config: Config, step: Step) -> bool:
    """Return whether a step works in a tree of the task, which the PM may set back."""
    return bool(step.workspace) and location_of(config, step.agent) is None


def is_judge(step: Step) -> bool:
    """Return whether a step's verdict decides about the work of others."""
    return Gate.VERDICT in step.gates or Gate.CRITERIA in step.gates


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
    agent = state.agents.get(step.agent)
    first = purpose is Purpose.CHECK or agent is None or not agent.check
    return first and (step.kind is WorkspaceKind.READ_ONLY or Gate.COMMIT in step.gates)


def life_of(state: PMState, step: Step) -> int:
    """Return which life of its tree a step works in: the last one begun by any step that shares it; 0 if none."""
    if step.kind is not WorkspaceKind.WORKTREE or not step.workspace:
        return 0
    sharing = state.steps.of_tree(step.kind, step.workspace)
    return max((each.tree_life for each in state.steps.among(sharing)), default=0)
