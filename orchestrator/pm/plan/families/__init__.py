"""Plan families: which steps, in which order, behind which gates. One file per family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from orchestrator.pm.plan.families import delivery

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.model.agents import Agent
    from orchestrator.model.handoff import Subtask
    from orchestrator.model.plan import Step
    from orchestrator.model.task import Brief


class Family(Protocol):
    """What a family answers. All of it is pure."""

    def agents(self, brief: Brief) -> tuple[str, ...]:
        """Return the agents without which such a task cannot be done."""
        ...

    def first_steps(self, brief: Brief) -> tuple[Step, ...]:
        """Return the steps that a task begins with."""
        ...

    def subtask_steps(
        self, brief: Brief, subtasks: Sequence[Subtask], steps: Mapping[str, Step]
    ) -> tuple[Step, ...]:
        """Return the steps that a plan's subtasks add to those that there are."""
        ...

    def loose_steps(self, brief: Brief, agent: Agent, number: int, instructions: str) -> tuple[Step, ...]:
        """Return the steps of an order of the user's own (`task order`, `task spawn`), and of its judges."""
        ...


FAMILIES: Final[dict[str, Family]] = {"delivery": delivery}


def family_of(brief: Brief) -> Family:
    """Return the family of a task. There is one so far; task.md will name others."""
    del brief
    return FAMILIES["delivery"]
