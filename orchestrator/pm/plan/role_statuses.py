"""What the status files of role agents say: what the state knows, and what each agent says of its own work (C4).

What an agent says holds for the order under which it says it. While it works, its word counts; once it does not, only
its findings and its progress are left of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.coordination import AgentActivity, PipelineRole, RoleStatus, WaitingFor, iso
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Purpose
from orchestrator.model.task import ROLES
from orchestrator.pm.plan.families.roles import AGENTS
from orchestrator.pm.plan.handing_on import handed_on_by, reason_of, received_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.coordination import HandoffRecord
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState

ONWARD: Final = {
    PipelineRole.PLANNER: PipelineRole.IMPLEMENTER,
    PipelineRole.IMPLEMENTER: PipelineRole.AUDITOR,
    PipelineRole.AUDITOR: PipelineRole.CLEANER,
    PipelineRole.CLEANER: PipelineRole.ORCHESTRATOR,
}
"""To whom each role hands on when its work is done."""

_APPROVALS: Final = frozenset({QuestionKind.APPROVAL, QuestionKind.PERMISSION, QuestionKind.DELETES})
_RESOURCES: Final = frozenset({QuestionKind.ACCOUNT, QuestionKind.BUDGET, QuestionKind.BOX})


@dataclass(frozen=True, slots=True)
class AgentStanding:
    """The status of a role's agent, and its live run; None while none works.

    `before` is what it said under an earlier order, if it has said nothing yet under that of its run: a daemon that was
    killed may have left that in the file.
    """

    status: RoleStatus
    run: Run | None
    before: RoleStatus | None = None


def standings(state: PMState) -> Iterator[AgentStanding]:
    """Yield the status of each role's agent in a task of roles; nothing for any other task."""
    if state.brief.config.family != ROLES:
        return
    steps: dict[str, Step] = {}
    for step in state.steps.values():
        if step.agent in AGENTS:
            steps.setdefault(step.agent, step)
    for step in steps.values():
        run = _working(state, step)
        if run is None:
            yield AgentStanding(_idle(state, step), None)
            continue
        said = state.role_statuses.get(step.agent)
        before = said.status if said is not None and said.order != run.order else None
        yield AgentStanding(_busy(state, step, run), run, before)


def _working(state: PMState, step: Step) -> Run | None:
    """Return the live run of a step's agent, which writes its status until it ends, also after it has handed on."""
    found = [run for run in state.live_runs if run.step == step.id and run.purpose is Purpose.WORK]
    return found[-1] if found else None


def _busy(state: PMState, step: Step, run: Run) -> RoleStatus:
    role = PipelineRole(step.agent.upper())
    received = received_by(state, step)
    known = RoleStatus(
        agent=step.agent,
        role=role,
        activity=AgentActivity.ACTIVE,
        updated=iso(run.opened_at),
        current_task=step.title,
        handoff=received.handoff.head.id if received else None,
        next_role=ONWARD.get(role),
    )
    said = state.role_statuses.get(step.agent)
    if said is None or said.order != run.order:
        return known
    return replace(said.status, agent=known.agent, role=known.role)


def _idle(state: PMState, step: Step) -> RoleStatus:
    role = PipelineRole(step.agent.upper())
    made = handed_on_by(state, step.id)
    said = state.role_statuses.get(step.agent)
    waits, why = _held_up(state, step)
    return RoleStatus(
        agent=step.agent,
        role=role,
        activity=AgentActivity.IDLE,
        updated=iso(step.since or state.started_at),
        progress=said.status.progress if said else None,
        findings=said.status.findings if said else (),
        handoff=made.handoff.head.id if made else None,
        next_role=_receiver(made),
        waiting_for=waits,
        blocked_by=why,
    )


def _receiver(made: HandoffRecord | None) -> PipelineRole | None:
    return made.handoff.head.target if made else None


def _held_up(state: PMState, step: Step) -> tuple[WaitingFor | None, tuple[str, ...]]:
    """Return for what a step that does not go on waits, and why."""
    asked = [each for each in state.open_questions if each.step == step.id]
    if asked:
        kind = asked[0].kind
        waits = WaitingFor.APPROVAL if kind in _APPROVALS else WaitingFor.CLARIFICATION
        waits = WaitingFor.RESOURCE if kind in _RESOURCES else waits
        return waits, tuple(each.text.split("\n", 1)[0] for each in asked)
    if step.state is StepState.BLOCKED:
        why = reason_of(step).split("\n", 1)[0]
        return WaitingFor.CLARIFICATION, (why,) if why else ()
    return None, ()
