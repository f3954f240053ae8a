"""Success criteria that the gates show to be met, so that no agent marks them.

The plan of a workflow says whose evidence meets each criterion: it is marked once all of that is verified. What a
verifier passed is what the daemon had found on the disk, by its hash, when its agent handed in.

A composite skill has one criterion of its own, that each phase ended with a complete memory file: it is marked once
each phase has passed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.composite import agent_memory_file
from orchestrator.model.handoff import CriterionMark
from orchestrator.model.plan import StepState
from orchestrator.pm.plan.families.delivery import ACCEPT
from orchestrator.pm.plan.families.skills import MEMORIES_COMPLETE, phase_step
from orchestrator.pm.plan.families.workflow import verify
from orchestrator.pm.state.changes import CriteriaMarked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.composite import SkillPlan
    from orchestrator.model.workflow import CriterionPlan, WorkflowPlan
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


def mark_as_planned(draft: Draft) -> None:
    """Mark the criteria whose evidence is verified now; where none are planned, do nothing."""
    plan, skill = draft.state.brief.workflow, draft.state.brief.skill
    if plan is not None and plan.criteria:
        marks = tuple(_marks(draft.state, plan))
    elif skill is not None and ACCEPT not in draft.state.steps:
        marks = tuple(_of_skill(draft.state, skill))
    else:
        return
    if marks != draft.state.criteria:
        draft.change(CriteriaMarked(marks))


def _marks(state: PMState, plan: WorkflowPlan) -> Iterator[CriterionMark]:
    for criterion in plan.criteria:
        if criterion.text in state.brief.criteria and all(
            _is_verified(state, each.partition(".")[0]) for each in criterion.by
        ):
            yield CriterionMark(criterion.text, met=True, evidence=tuple(_evidence(plan, criterion)))


def _of_skill(state: PMState, skill: SkillPlan) -> Iterator[CriterionMark]:
    if MEMORIES_COMPLETE not in state.brief.criteria:
        return
    steps = [state.steps.get(phase_step(phase.id)) for phase in skill.phases_left]
    if steps and all(step is not None and step.state is StepState.PASSED for step in steps):
        files = (agent_memory_file(skill.task_id, phase.agent) for phase in skill.skill.phases)
        evidence = tuple(f"{state.project}/{each}" for each in files)
        yield CriterionMark(MEMORIES_COMPLETE, met=True, evidence=evidence)


def _is_verified(state: PMState, agent: str) -> bool:
    step = state.steps.get(verify(agent))
    return step is not None and step.state is StepState.PASSED


def _evidence(plan: WorkflowPlan, criterion: CriterionPlan) -> Iterator[str]:
    """Yield where the evidence of a criterion lies, in the task's folder."""
    agents = {each.id: each for each in plan.agents}
    for named in criterion.by:
        agent, _, evidence = named.partition(".")
        yield from (
            f"orchestration/agents/{agent}/task_output/{each.path}"
            for each in agents[agent].evidence
            if each.id == evidence
        )
