"""Where an agent works, if task.md gives it a place of its own (HUB 3.3, 5.2; H4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.agents import REMOTE_ROLES
from orchestrator.model.run import HERE
from orchestrator.model.task import Bring

if TYPE_CHECKING:
    from orchestrator.model.task import Config, Place


def place_of(config: Config, agent: str) -> Place | None:
    """Return the folder, here or on a box, that is an agent's own; None where it works in the task's trees.

    A box of the whole task is that of the agents who may be remote, and of no others.
    """
    if agent in config.agents and (own := config.agents[agent].cwd) is not None:
        return own
    everybodys = config.cwd
    return everybodys if everybodys is not None and everybodys.host and agent in REMOTE_ROLES else None


def host_of(config: Config, agent: str) -> str:
    """Return the host on which an agent's runs live."""
    place = place_of(config, agent)
    return place.host or HERE if place is not None else HERE


def leaves_a_tree(config: Config, agent: str) -> bool:
    """Tell whether an agent's work comes to lie in a tree of the task, where others can judge it."""
    place = place_of(config, agent)
    return place is None or (bool(place.host) and config.bring is Bring.BRANCH)
