"""Where a workflow and its agents stand, by the names of the WF document: what `shared_status.json` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import Step, StepState
from orchestrator.model.task import TaskState
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow import AgentKind
from orchestrator.model.workflow_records import (
    AgentEntry,
    AgentStatus,
    Gate,
    SharedStatus,
    VerificationStatus,
    VerifierEntry,
    WorkflowStatus,
)
from orchestrator.pm.plan.families.workflow import RESOLVE, do, on_call, verify
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
    agents = tuple(_entry(state, agent) for agent in plan.agents if agent.kind is not AgentKind.VERIFIER)
    return SharedStatus(
        task_id=plan.workflow,
        status=_OF_TASK[state.state],
        session_start=int(state.started_at),
        agents=agents,
        verification=tuple(_verifiers(state, plan)),
        gate=Gate.BLOCKED if any(each.unresolved_notes for each in agents) else Gate.CLEAR,
    )


def agent_status(state: PMState, agent: str) -> AgentStatus:
    """Return the status of an agent that works, or is on call."""
    if do(agent) not in state.steps:
        return _on_call_status(state, agent)
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


def _on_call_status(state: PMState, agent: str) -> AgentStatus:
    """Return the status of an agent that only answers: a resolver, or an architect that was not asked yet."""
    steps = [
        each for each in state.steps.values() if each.agent == agent and each.id.startswith(f"{RESOLVE}:")
    ]
    left = [each for each in steps if not each.settled]
    if any(each.state in {StepState.BLOCKED, StepState.FAILED} for each in left):
        return AgentStatus.BLOCKED
    return AgentStatus.WORKING if left else AgentStatus.PENDING


def _lacks_a_need(state: PMState, work: Step) -> bool:
    return any(state.steps[need].state is not StepState.PASSED for need in work.needs)


def _entry(state: PMState, agent: WorkflowAgent) -> AgentEntry:
    record = state.records.get(agent.id, AgentRecord())
    notes = record.session.notes if record.session else ()
    steps = _steps_of(state, agent.id)
    moved = max((each.since for each in steps), default=0.0)
    began = any(each.began_at for each in steps)
    return AgentEntry(
        name=agent.id,
        status=agent_status(state, agent.id),
        notes_count=len(notes),
        unresolved_notes=len(tuple(unresolved(record.session))) if record.session else 0,
        dependencies=agent.needs,
        last_update=int(moved) if began else None,
    )


def _steps_of(state: PMState, agent: str) -> list[Step]:
    """Return the steps that an agent's entry tells of: its work and verification, or its answers."""
    if do(agent) in state.steps:
        return [state.steps[do(agent)], state.steps[verify(agent)]]
    return [
        each for each in state.steps.values() if each.agent == agent and each.id.startswith(f"{RESOLVE}:")
    ]


def _verifiers(state: PMState, plan: WorkflowPlan) -> list[VerifierEntry]:
    subjects: dict[str, list[str]] = {}
    asked = {each for each in on_call(plan) if do(each) in state.steps}
    for agent in plan.agents:
        if agent.kind is not AgentKind.VERIFIER:
            subjects.setdefault(agent.verifier, []).append(agent.id)
    waiting = on_call(plan) - asked
    return [
        VerifierEntry(
            name, _verification(state, name, [each for each in of if each not in waiting]), tuple(of)
        )
        for name, of in subjects.items()
    ]


def _verification(state: PMState, verifier: str, subjects: list[str]) -> VerificationStatus:
    if subjects and all(state.steps[verify(each)].state is StepState.PASSED for each in subjects):
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
