"""Where a workflow and its agents stand, by the names of the WF document: what `shared_status.json` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import Step, StepState
from orchestrator.model.task import TaskState
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow_records import (
    AgentEntry,
    AgentStatus,
    Gate,
    SharedStatus,
    VerificationStatus,
    VerifierEntry,
    WorkflowStatus,
)
from orchestrator.pm.plan.families.workflow import do, verify, workers
from orchestrator.pm.state.note_changes import unresolved

if TYPE_CHECKING:
    from orchestrator.model.workflow import WorkflowAgent, WorkflowPlan
    from orchestrator.pm.state.task_state import PMState

_OF_TASK: Final = {
    TaskState.RUNNING: WorkflowStatus.IN_PROGRESS,
    TaskState.WAITING: WorkflowStatus.BLOCKED,
    TaskState.STOPPED: WorkflowStatus.IN_PROGRESS,
    TaskState.COMPLETE: WorkflowStatus.COMPLETE,
    TaskState.PARTIAL: WorkflowStatus.FAILED,
    TaskState.FAILED: WorkflowStatus.FAILED,
}
_HANDED_IN: Final = frozenset({StepState.CHECKING, StepState.PASSED})


def shared_status_of(state: PMState, plan: WorkflowPlan) -> SharedStatus:
    """Return the shared status that follows from a task's state."""
    agents = tuple(_entry(state, agent) for agent in workers(plan))
    return SharedStatus(
        task_id=plan.workflow,
        status=_OF_TASK[state.state],
        session_start=int(state.started_at),
        agents=agents,
        verification=tuple(_verifiers(state, plan)),
        gate=Gate.BLOCKED if any(each.unresolved_notes for each in agents) else Gate.CLEAR,
    )


def agent_status(state: PMState, agent: str) -> AgentStatus:
    """Return the status of an agent that works."""
    work, judge = state.steps[do(agent)], state.steps[verify(agent)]
    if judge.state is StepState.PASSED:
        return AgentStatus.COMPLETE if state.state is TaskState.COMPLETE else AgentStatus.VERIFIED
    if work.state is StepState.SET_ASIDE:
        lost = any(state.steps[need].state is StepState.SET_ASIDE for need in work.needs)
        return AgentStatus.PENDING if lost else AgentStatus.FAILED
    if work.state is StepState.FAILED:
        return AgentStatus.FAILED
    if StepState.BLOCKED in {work.state, judge.state}:
        return AgentStatus.BLOCKED
    if work.state in _HANDED_IN:
        return AgentStatus.READY
    if work.state is StepState.PENDING and (not work.began_at or _lacks_a_need(state, work)):
        return AgentStatus.PENDING
    return AgentStatus.WORKING


def _lacks_a_need(state: PMState, work: Step) -> bool:
    return any(state.steps[need].state is not StepState.PASSED for need in work.needs)


def _entry(state: PMState, agent: WorkflowAgent) -> AgentEntry:
    record = state.records.get(agent.id, AgentRecord())
    notes = record.session.notes if record.session else ()
    moved = max(state.steps[do(agent.id)].since, state.steps[verify(agent.id)].since)
    began = bool(state.steps[do(agent.id)].began_at)
    return AgentEntry(
        name=agent.id,
        status=agent_status(state, agent.id),
        notes_count=len(notes),
        unresolved_notes=len(tuple(unresolved(record.session))) if record.session else 0,
        dependencies=agent.needs,
        last_update=int(moved) if began else None,
    )


def _verifiers(state: PMState, plan: WorkflowPlan) -> list[VerifierEntry]:
    subjects: dict[str, list[str]] = {}
    for agent in workers(plan):
        subjects.setdefault(agent.verifier, []).append(agent.id)
    return [VerifierEntry(name, _verification(state, name, of), tuple(of)) for name, of in subjects.items()]


def _verification(state: PMState, verifier: str, subjects: list[str]) -> VerificationStatus:
    if all(state.steps[verify(each)].state is StepState.PASSED for each in subjects):
        return VerificationStatus.VERIFIED
    states = {step.state for step in state.steps.among(state.steps.of_agent(verifier) & ~state.steps.joint)}
    for found, shown in (
        (StepState.WORKING, VerificationStatus.WORKING),
        (StepState.BLOCKED, VerificationStatus.BLOCKED),
        (StepState.FAILED, VerificationStatus.FAILED),
    ):
        if found in states:
            return shown
    return VerificationStatus.PENDING
