"""Plan families: which steps, in which order, behind which gates. One file per family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from orchestrator.model.registry import Registry
from orchestrator.model.task import DELIVERY
from orchestrator.pm.plan.families import delivery

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.model.agents import Agent
    from orchestrator.model.handoff import Subtask
    from orchestrator.model.plan import Step
    from orchestrator.model.task import Brief


class Family(Protocol):
    """What a family provides: a module or an object with these functions. All of them are pure.

    The engine recognises the steps of a family by their gates, never by their names. A step with `Gate.SUBTASKS` plans,
    and is asked again when more must be planned. One with `Gate.CRITERIA` judges the whole task, and waits for every
    review that is added later.
    """

    def agents(self, brief: Brief) -> tuple[str, ...]:
        """Return the agents that such a task requires."""
        ...

    def first_steps(self, brief: Brief) -> tuple[Step, ...]:
        """Return the steps that a task begins with."""
        ...

    def subtask_steps(
        self, brief: Brief, subtasks: Sequence[Subtask], steps: Mapping[str, Step]
    ) -> tuple[Step, ...]:
        """Return the steps that a plan's subtasks add to the existing ones."""
        ...

    def loose_steps(self, brief: Brief, agent: Agent, number: int, instructions: str) -> tuple[Step, ...]:
        """Return the steps for an order of the user (`task order`, `task spawn`), and their judges."""
        ...


FAMILIES: Final = Registry[Family]("plan family", {DELIVERY: lambda: delivery})


def family_of(brief: Brief) -> Family:
    """Return the family that a task's `family:` names.

    Raises:
        Refused: no such family is installed.
    """
    return FAMILIES.find(brief.config.family)
