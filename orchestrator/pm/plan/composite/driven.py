"""A session that the daemon drives, as its state file shows it: the same machine, fed with what was handed in (S4).

The journal has which phases have passed, and by which bytes. From that the session is computed, by the functions of the
machine and no others. A phase that passed ahead of one that works at the same time shows once that one has passed, too:
phases end in the order of the skill, whoever drives.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.model.composite import SkillState
from orchestrator.model.plan import StepState
from orchestrator.model.turn_end import AgentRecord
from orchestrator.pm.plan.composite import machine
from orchestrator.pm.plan.families.skills import phase_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.model.composite import SkillPhase, SkillPlan, SkillSession
    from orchestrator.pm.state.task_state import PMState


def driven(plan: SkillPlan, state: PMState, memory: Callable[[str], bytes | None]) -> SkillSession:
    """Return the session of a task as it stands now.

    Args:
        plan: The session as the daemon took it over.
        state: The state of the task.
        memory: Returns what an agent handed in as its memory file.

    Raises:
        BadFile: what was handed in is not there any more.

    """
    session = replace(plan.session, task="") if plan.returned else plan.session
    to_do = phases_to_do(plan, state)
    while (phase := session.phase) is not None:
        if phase in to_do:
            return session
        session = machine.phase_done(session, memory(phase.agent))
    agents = [phase.agent for phase in plan.skill.phases]
    memories = {agent: data for agent in agents if (data := memory(agent)) is not None}
    if session.state is SkillState.COMPLETE_WORKFLOW:
        session = machine.summarized(session, memories)
    return machine.validated(session, memories)


def phases_to_do(plan: SkillPlan, state: PMState) -> tuple[SkillPhase, ...]:
    """Return the phases that have not passed yet, in their order."""
    steps = ((phase, state.steps.get(phase_step(phase.id))) for phase in plan.phases_left)
    return tuple(phase for phase, step in steps if step is None or step.state is not StepState.PASSED)


def handed_in(plan: SkillPlan, state: PMState, agent: str) -> str:
    """Return the SHA-256 of an agent's memory file as it was handed in; empty if it has not handed in yet."""
    record = state.records.get(agent, AgentRecord())
    return record.outputs[0][1] if record.outputs else dict(plan.memories).get(agent, "")
