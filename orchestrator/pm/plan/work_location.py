"""Where an agent works: in a folder of its own that task.md names (H3, H4), or in a tree of the task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.agents import REMOTE_ROLES
from orchestrator.model.host_names import HERE
from orchestrator.model.plan import Gate
from orchestrator.model.task import Bring

if TYPE_CHECKING:
    from orchestrator.model.plan import Step
    from orchestrator.model.task import Config, Location


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


def is_prepared(config: Config, step: Step) -> bool:
    """Return whether the folder that a step works in is made ready before a run works in it.

    The PM agent's own turns build and test nothing.
    """
    return config.prepares and Gate.DECISION not in step.gates and may_be_prepared(config, step)


def may_be_prepared(config: Config, step: Step) -> bool:
    """Return whether a step works where `prepare:` applies: in a tree of the task, or in a clone on a box.

    A folder of an agent's own on this machine is its user's to prepare.
    """
    place = location_of(config, step.agent)
    return bool(step.workspace) if place is None else bool(place.host)


def is_judge(step: Step) -> bool:
    """Return whether a step's verdict decides about the work of others."""
    return bool({Gate.VERDICT, Gate.CRITERIA, Gate.POC} & set(step.gates))
