"""The family `skills` (the SKILL document, S4): the phases of a composite skill, each the work of one agent.

::

    phase:A ─▶ phase:B ─┬─▶ phase:D ─▶ …   [─▶ accept]
                        └─▶ phase:C ┘          C works alongside B

The plan is `Brief.skill`, read when the task starts: the session whose phases are left. Each phase has the gate
MEMORY: it passes when its agent's memory file is complete. What it changed in its own worktree is then committed, and
merged onto the task's branch, on which the next phase begins. What the state file shows is `pm.plan.composite.driven`.

The only criterion of a task that `task skill run --daemon` makes is that of the protocol, which the gates show to be
met (`pm.policies.planned_criteria`). Where task.md has others, the agent `review` judges all of them at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.skill.prompt import phase_instructions
from orchestrator.model.agents import Agent, Role
from orchestrator.model.composite import agent_memory_file
from orchestrator.model.plan import Gate, Step
from orchestrator.model.task import Brief, Phase, WorkspaceKind
from orchestrator.pm.plan.families.delivery import ACCEPT, LOOK, PHASE_OF_ROLE
from orchestrator.pm.plan.families.rules import FamilyRules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.model.composite import SkillPhase, SkillPlan
    from orchestrator.model.handoff import Subtask

RULES: Final = FamilyRules(finishes_first=False)

MEMORIES_COMPLETE: Final = "Every phase of the skill has ended with a complete memory file."
"""The success criterion of the protocol."""

_PHASES: Final = {role.value: phase for role, phase in PHASE_OF_ROLE.items()}


def agents(brief: Brief) -> tuple[str, ...]:
    """Return the agents of the phases that are left, and who judges criteria that the protocol does not have."""
    if brief.skill is None:
        return ()
    judge = (Role.REVIEW.value,) if is_judged(brief) else ()
    return tuple(dict.fromkeys((*(phase.agent for phase in brief.skill.phases_left), *judge)))


def first_steps(brief: Brief) -> tuple[Step, ...]:
    """Return the phases that are left, in their order, and the judgement of the whole, if there is one."""
    plan = _plan(brief)
    phases = tuple(_phase(brief, plan, each) for each in plan.phases_left)
    return (*phases, _accept(brief, tuple(step.id for step in phases))) if is_judged(brief) else phases


def subtask_steps(brief: Brief, subtasks: Sequence[Subtask], steps: Mapping[str, Step]) -> tuple[Step, ...]:
    """Return nothing: the skill lists everything."""
    del brief, subtasks, steps
    return ()


def loose_steps(brief: Brief, agent: Agent, number: int, instructions: str) -> tuple[Step, ...]:
    """Return one step that looks around and reports: work on the project belongs into a phase."""
    own = _own_tree(brief)
    return (
        Step(
            f"{agent.name}-{number}",
            agent.name,
            instructions.strip().split("\n")[0][:80],
            instructions,
            PHASE_OF_ROLE.get(agent.role or Role.EXPLORE, Phase.EXPLORING),
            kind=WorkspaceKind.READ_ONLY if own else brief.config.workspace,
            workspace=LOOK if own else "",
        ),
    )


def is_judged(brief: Brief) -> bool:
    """Return whether task.md has success criteria beside that of the protocol: an agent has to judge them."""
    return brief.criteria != (MEMORIES_COMPLETE,)


def phase_step(phase: str) -> str:
    """Return the step in which a phase is worked on."""
    return f"phase:{phase}"


def phase_of(brief: Brief, step: Step) -> SkillPhase | None:
    """Return the phase of a step; None if it is no phase."""
    phases = brief.skill.skill.phases if brief.skill else ()
    return next((each for each in phases if phase_step(each.id) == step.id), None)


def _plan(brief: Brief) -> SkillPlan:
    if brief.skill is None:
        raise ValueError("a task of the family skills is made from its session")
    return brief.skill


def _phase(brief: Brief, plan: SkillPlan, phase: SkillPhase) -> Step:
    left = plan.phases_left
    needs = tuple(phase_step(each.id) for each in plan.skill.before(phase) if each in left)
    own = _own_tree(brief)
    return Step(
        id=phase_step(phase.id),
        agent=phase.agent,
        title=f"{plan.skill.name}: {phase.id}",
        instructions=phase_instructions(phase),
        phase=_PHASES.get(phase.agent, Phase.DEVELOPING),
        needs=needs,
        kind=brief.config.workspace,
        workspace=phase.id if own else "",
        gates=(Gate.MEMORY, Gate.COMMIT, Gate.MERGED) if own else (Gate.MEMORY, Gate.CHANGED),
        done_when=f"{agent_memory_file(plan.task_id, phase.agent)} is complete",
    )


def _accept(brief: Brief, needs: tuple[str, ...]) -> Step:
    wanted = "\n".join(f"- {criterion}" for criterion in brief.criteria)
    own = _own_tree(brief)
    return Step(
        id=ACCEPT,
        agent=Role.REVIEW.value,
        title="Success criteria",
        instructions="Judge each success criterion by the work of all phases. Repeat each under `## Success Criteria`, "
        f"marked met or not, with evidence:\n{wanted}",
        phase=Phase.REVIEWING,
        needs=needs,
        kind=WorkspaceKind.READ_ONLY if own else brief.config.workspace,
        workspace=LOOK if own else "",
        gates=(Gate.CRITERIA,),
    )


def _own_tree(brief: Brief) -> bool:
    return brief.config.workspace is WorkspaceKind.WORKTREE
