"""Who builds on outputs that were verified again with another content is run again, or told (WF, W13).

Versions are hashes of contents: a rerun that leaves the same files stops the wave.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.model.plan import StepState
from orchestrator.model.turn_end import AgentRecord
from orchestrator.pm.plan.families.workflow import do, verify, workers
from orchestrator.pm.policies.adapting import again
from orchestrator.pm.policies.reopen import feed
from orchestrator.pm.state.step_changes import StepMoved
from orchestrator.pm.state.workflow_changes import AgentRecorded

if TYPE_CHECKING:
    from orchestrator.model.workflow import WorkflowAgent, WorkflowPlan
    from orchestrator.pm.state.draft import Draft


def note_versions(draft: Draft) -> None:
    """Note the outputs of each agent that was verified just now, and let its dependents follow."""
    plan = draft.state.brief.workflow
    if plan is None:
        return
    passed = {c.step for c in draft.changes if isinstance(c, StepMoved) and c.to is StepState.PASSED}
    for agent in workers(plan) if passed else ():
        if verify(agent.id) in passed and draft.step(verify(agent.id)).state is StepState.PASSED:
            _note(draft, plan, agent)


def _note(draft: Draft, plan: WorkflowPlan, agent: WorkflowAgent) -> None:
    record = draft.state.records.get(agent.id, AgentRecord())
    if record.passed == record.outputs:
        return
    before = record.passed
    draft.change(AgentRecorded(agent.id, replace(record, passed=record.outputs)))
    if before is None:
        return
    changed = {path for path, _ in set(before) ^ set(record.outputs)}
    for other in workers(plan):
        if agent.id in other.needs:
            _follow(draft, plan, agent.id, other, changed)


def _follow(draft: Draft, plan: WorkflowPlan, source: str, agent: WorkflowAgent, changed: set[str]) -> None:
    """Run a dependent again if it declared what changed; else have its next order name it."""
    step = draft.step(do(agent.id))
    if not step.began_at or step.state is StepState.SET_ASIDE:
        return  # it takes what is there when it starts
    declared = {each.path for each in agent.inputs if each.source == source}
    reads = sorted(changed if "" in declared else changed & declared)
    named = ", ".join(f"{source}/task_output/{path}" for path in reads or sorted(changed))
    said = f"What you build on was verified anew with other contents: {named}."
    record = draft.state.records.get(agent.id, AgentRecord())
    most = dict(agent.own_bounds).get("input_reruns", plan.bounds.input_reruns)
    if not reads or step.state is StepState.PENDING:
        feed(draft, step.id, said)
    elif record.reruns >= most:
        feed(draft, step.id, said)
        draft.notice(
            f"{agent.id} was run again {most} times because of its inputs, and is not run again: {named}"
        )
    else:
        draft.change(AgentRecorded(agent.id, replace(record, reruns=record.reruns + 1)))
        again(draft, agent.id, f"its input changed: {named}", said)
