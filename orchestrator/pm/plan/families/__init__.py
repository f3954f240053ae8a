"""Plan families: which steps, in which order, behind which gates. One file per family."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

from orchestrator.model.registry import Registry
from orchestrator.model.task import DELIVERY, ROLES, SKILLS, WORKFLOW
from orchestrator.pm.plan.families import delivery
from orchestrator.pm.plan.families.rules import DEFAULTS, Caps, FamilyRules

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

    A family may also provide `RULES`, a `FamilyRules`; `caps(brief)`, how many runs may be open at once in the whole
    task and in each group of its steps; and `cast(brief, agents)`, the definitions under which its agents run.
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


def _workflow() -> Family:
    """Return the family of workflows. It is imported when it is first asked for: a command needs its name only."""
    return cast("Family", import_module("orchestrator.pm.plan.families.workflow"))


def _roles() -> Family:
    """Return the family of roles that hand on to each other, imported as late as the other."""
    return cast("Family", import_module("orchestrator.pm.plan.families.roles"))


def _skills() -> Family:
    """Return the family of composite skills, imported as late as the others."""
    return cast("Family", import_module("orchestrator.pm.plan.families.skills"))


FAMILIES: Final = Registry[Family](
    "plan family", {DELIVERY: lambda: delivery, WORKFLOW: _workflow, ROLES: _roles, SKILLS: _skills}
)


def rules_of(brief: Brief) -> FamilyRules:
    """Return how the engine treats a task, by its family."""
    rules: FamilyRules = getattr(family_of(brief), "RULES", DEFAULTS)
    return rules


def handoffs_of(brief: Brief) -> str:
    """Return the format in which a task's agents write their reports: what task.md says, or else its family."""
    config = brief.config
    return config.handoffs if "handoffs" in config.written else rules_of(brief).handoffs or config.handoffs


def caps_of(brief: Brief) -> Caps:
    """Return how many runs a task wants at once: its plan's caps, or what `parallel:` in task.md says."""
    caps = getattr(family_of(brief), "caps", None)
    planned: Caps = caps(brief) if caps is not None else Caps()
    wanted = [most for most in (planned.all, brief.config.parallel) if most]
    return Caps(min(wanted, default=0), planned.groups)


def cast_of(brief: Brief, agents: Mapping[str, Agent]) -> dict[str, Agent]:
    """Return the definitions under which the agents of a task run."""
    own = getattr(family_of(brief), "cast", None)
    return dict(agents) | (own(brief, agents) if own is not None else {})


def family_of(brief: Brief) -> Family:
    """Return the family that a task's `family:` names.

    Raises:
        Refused: no such family is installed.
    """
    return FAMILIES.find(brief.config.family)
