"""A running plan is edited: the steps follow the new plan, and only what the edits name begins again.

What is verified stays so unless its own instructions, outputs or evidence change. Whoever builds on a new version of
something is run again for that (`input_versions`), and not because of the edit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.formats.workflow.approval import plan_hash
from orchestrator.model.plan import Step, StepState, Tally
from orchestrator.model.task import TaskState
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow_records import AdaptationRecord, AgentStatus, Effect
from orchestrator.pm.plan.adaptation import Adaptation, AdaptationRefused, Progress, adapt
from orchestrator.pm.plan.families import family_of
from orchestrator.pm.plan.families.workflow import cast, do, on_call, verify, workers
from orchestrator.pm.plan.workflow_check import Surroundings
from orchestrator.pm.plan.workflow_status import agent_status
from orchestrator.pm.policies.reopen import feed, overtake
from orchestrator.pm.state.changes import BriefTaken, TaskMoved
from orchestrator.pm.state.step_changes import (
    StepAdded,
    StepMoved,
    StepReopened,
    StepRevised,
    StepTallied,
)
from orchestrator.pm.state.step_fold import as_planned
from orchestrator.pm.state.workflow_changes import AgentRecorded, PlanAdapted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model.workflow import PlanEdit, WorkflowPlan
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

_AGAIN: Final = frozenset({Effect.ENDED_PENDING, Effect.CLAIM_NOT_TAKEN, Effect.WORKS_AGAIN})
_ENDED: Final = frozenset({TaskState.PARTIAL, TaskState.FAILED})
_CHANGED: Final = "The plan was adapted: {cause}. Read your instructions and what is wanted of you again."


def adaptation_of(
    state: PMState, edits: Sequence[PlanEdit], *, by_user: bool
) -> Adaptation | AdaptationRefused:
    """Return what edits of the running plan would do now, or why they cannot be made."""
    plan = state.brief.workflow
    if plan is None:
        return AdaptationRefused((f"{state.name} is no workflow",))
    around = Surroundings(criteria=state.brief.criteria, personas=frozenset(state.agents))
    return adapt(plan, edits, _progress(state, plan), around, by_user=by_user)


def carry_out(
    draft: Draft, adaptation: Adaptation, edits: Sequence[PlanEdit], *, by: str, cause: str, by_user: bool
) -> None:
    """Go on by an edited plan: in one decision, so that no other fact meets half of it."""
    state, before = draft.state, draft.state.brief.workflow
    if before is None:
        return
    lost = _lost_their_needs(state, before)
    record = AdaptationRecord(
        number=len(state.adaptations) + 1,
        at=draft.at,
        by=by,
        cause=cause,
        base=plan_hash(before),
        result=plan_hash(adaptation.plan),
        edits=tuple(edits),
        effects=adaptation.effects,
        voids=adaptation.voids,
    )
    draft.change(PlanAdapted(adaptation.plan, record))
    known = {each.id for each in before.agents}
    made = cast(draft.state.brief, draft.state.agents)
    added = {name: agent for name, agent in made.items() if name not in known}
    draft.change(BriefTaken(draft.state.brief, {**draft.state.agents, **added}))
    _write_instructions(draft, adaptation)
    _follow(draft)
    for agent, effect in adaptation.effects:
        if effect in _AGAIN:
            again(draft, agent, f"adaptation {record.number}: {cause}", _CHANGED.format(cause=cause))
            if by_user:
                draft.change(StepTallied(do(agent), Tally()))
    for agent in lost & {each.id for each in workers(adaptation.plan)}:
        _revive(draft, agent, f"adaptation {record.number}")
    if draft.state.state in _ENDED:
        draft.change(TaskMoved(TaskState.RUNNING, f"adaptation {record.number}: {cause}", draft.at))
    named = ", ".join(f"{agent} {effect.value.replace('_', ' ')}" for agent, effect in adaptation.effects)
    draft.notice(f"adaptation {record.number} by {by}: {cause} ({named})")


def again(draft: Draft, agent: str, why: str, said: str) -> None:
    """Run an agent again, in its tree and with its work, and have it judged again. Dependents stay as they are."""
    for step in (do(agent), verify(agent)):
        if draft.step(step).state is not StepState.PENDING or step == do(agent):
            overtake(draft, step)
            draft.change(
                StepReopened(step, draft.step(step).attempt + 1, draft.at, why, carries=step == do(agent))
            )
    feed(draft, do(agent), said)


def _revive(draft: Draft, agent: str, why: str) -> None:
    """Let an agent wait again that was given up only because something that it needed was."""
    for step in (do(agent), verify(agent)):
        if draft.step(step).state is StepState.SET_ASIDE:
            draft.change(StepReopened(step, draft.step(step).attempt + 1, draft.at, why))


def _lost_their_needs(state: PMState, plan: WorkflowPlan) -> frozenset[str]:
    return frozenset(
        each.id
        for each in workers(plan)
        if state.steps[do(each.id)].state is StepState.SET_ASIDE
        and agent_status(state, each.id) is AgentStatus.PENDING
    )


def _progress(state: PMState, plan: WorkflowPlan) -> Progress:
    statuses = {each.id: agent_status(state, each.id) for each in workers(plan)}
    used = {
        each.id: {
            "verifications": state.steps[do(each.id)].tally.rejections,
            "crashes": state.steps[do(each.id)].tally.crashes,
            "conflicts": state.steps[do(each.id)].tally.conflicts,
            "input_reruns": state.records.get(each.id, AgentRecord()).reruns,
        }
        for each in workers(plan)
    }
    gone = {name for record in state.adaptations for name, effect in record.effects if effect in _GONE}
    return Progress(statuses | dict.fromkeys(gone - statuses.keys(), AgentStatus.FAILED), used)


_GONE: Final = frozenset({Effect.REMOVED, Effect.ENDED})


def _write_instructions(draft: Draft, adaptation: Adaptation) -> None:
    """Keep new texts of instructions: they are written before the next run of their agent."""
    texts = dict(adaptation.instructions)
    for agent in adaptation.plan.agents:
        if agent.instructions in texts:
            was = draft.state.records.get(agent.id, AgentRecord())
            draft.change(AgentRecorded(agent.id, replace(was, instructions=texts[agent.instructions])))


def _follow(draft: Draft) -> None:
    """Have the steps say what the plan says: new ones are added, others revised, those without an agent given up."""
    planned = {step.id: step for step in family_of(draft.state.brief).first_steps(draft.state.brief)}
    for step in list(draft.state.steps.values()):
        if (
            step.id not in planned
            and _is_planned(draft.state, step)
            and step.state is not StepState.SET_ASIDE
        ):
            overtake(draft, step.id)
            draft.change(StepMoved(step.id, StepState.SET_ASIDE, draft.at, "it left the plan", replaced=True))
    for step in planned.values():
        was = draft.state.steps.get(step.id)
        if was is None:
            draft.change(StepAdded(replace(step, since=draft.at)))
        elif as_planned(was, step) != was:
            _revise(draft, was, step)


def _revise(draft: Draft, was: Step, step: Step) -> None:
    judges_otherwise = was.agent != step.agent or was.gates != step.gates
    draft.change(StepRevised(step.id, step))
    if judges_otherwise and was.state in {StepState.WORKING, StepState.CHECKING, StepState.BLOCKED}:
        overtake(draft, step.id)
        draft.change(StepReopened(step.id, was.attempt + 1, draft.at, "the plan names another verifier"))


def _is_planned(state: PMState, step: Step) -> bool:
    """Return whether a step came from the plan, and not from an escalation or an order of the user."""
    plan = state.brief.workflow
    asked = on_call(plan) if plan else frozenset()
    return step.id.partition(":")[0] in _KINDS and step.subtask not in asked


_KINDS: Final = frozenset({"do", "verify"})
