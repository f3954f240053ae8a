"""The family `workflow` (the WF document): agents with dependencies, each with a verifier.

::

    for each agent A that works:   do:A ─▶ verify:A      do:B needs verify:A where B needs A
                                    ▲── missing ──┘

The plan is `Brief.workflow`, read when the task starts. Whatever has its needs verified may run: `groups` and
`max_parallel` only cap. Both steps of an agent share one worktree, for all attempts. The criteria are marked as the
plan says (`pm.policies.planned_criteria`), so no step judges the whole. Several agents may be judged together, at a
checkpoint (`pm.plan.checkpoints`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.agents import Agent
from orchestrator.model.plan import Gate, Step
from orchestrator.model.task import Brief, Phase, WorkspaceKind
from orchestrator.model.workflow import AgentKind, Checkpoint, WorkflowAgent, WorkflowPlan
from orchestrator.pm.plan.families.rules import Caps, FamilyRules
from orchestrator.pm.plan.work_location import location_of
from orchestrator.pm.state.claims import WHOLE, claims_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.model.handoff import Subtask
    from orchestrator.model.turn_end import AgentRecord

RULES: Final = FamilyRules(
    finishes_first=False,
    keeps_claims=True,
    one_run_per_agent=True,
    fresh_conversations=True,
    follows_versions=True,
)

PHASE_OF_KIND: Final = {
    AgentKind.DOER: Phase.DEVELOPING,
    AgentKind.POC: Phase.EXPLORING,
    AgentKind.ARCHITECT: Phase.PLANNING,
    AgentKind.VERIFIER: Phase.REVIEWING,
}
LOOK: Final = "look"

_LIMIT_OF_BOUND: Final = {
    "crashes": "max_crashes",
    "loops": "max_repeated_questions",
    "asks": "max_report_requests",
    "conflicts": "max_conflicts",
    "run_time": "max_run_time",
}
"""The limits that bounds of the plan stand for, by name. `verifications` is counted as rejections of the work."""

_ALWAYS: Final = (("max_blocks", 0), ("max_fresh_starts", 0))
"""A note that is escalated asks at once; and each run is a fresh conversation anyway."""


RESOLVE: Final = "resolve"


def agents(brief: Brief) -> tuple[str, ...]:
    """Return the definitions that the plan's agents are made from."""
    plan = brief.workflow
    own = brief.config.agents
    wanted = (each.id if each.id in own else each.persona for each in plan.agents) if plan else ()
    return tuple(dict.fromkeys(wanted))


def cast(brief: Brief, found: Mapping[str, Agent]) -> dict[str, Agent]:
    """Return a definition for each agent of the plan: its persona's, or what task.md says of the agent itself.

    A definition that only happens to have the name of an agent is not meant.
    """
    own = brief.config.agents
    return {
        each.id: _cast(each, found[each.id if each.id in own else each.persona])
        for each in _plan(brief).agents
    }


def _cast(wanted: WorkflowAgent, persona: Agent) -> Agent:
    runtime = persona.runtime if wanted.runtime == "auto" else wanted.runtime
    return replace(persona, name=wanted.id, role=None, runtime=runtime)


def caps(brief: Brief) -> Caps:
    """Return how many agents the plan wants at once."""
    plan = _plan(brief)
    return Caps(plan.max_parallel, plan.groups)


def first_steps(brief: Brief) -> tuple[Step, ...]:
    """Return the work of each agent and its verification, in the order of the plan."""
    plan = _plan(brief)
    pairs = (step for agent in workers(plan) for step in _pair(brief, agent))
    return *pairs, *(_checkpoint(brief, plan, each) for each in plan.checkpoints)


def subtask_steps(brief: Brief, subtasks: Sequence[Subtask], steps: Mapping[str, Step]) -> tuple[Step, ...]:
    """Return nothing: the plan lists everything."""
    del brief, subtasks, steps
    return ()


def loose_steps(brief: Brief, agent: Agent, number: int, instructions: str) -> tuple[Step, ...]:
    """Return one step that looks around and reports: work on the project belongs into the plan."""
    own = brief.config.workspace is WorkspaceKind.WORKTREE
    return (
        Step(
            f"{agent.name}-{number}",
            agent.name,
            instructions.strip().split("\n")[0][:80],
            instructions,
            Phase.EXPLORING,
            kind=WorkspaceKind.READ_ONLY if own else brief.config.workspace,
            workspace=LOOK if own else "",
        ),
    )


def agents_now(plan: WorkflowPlan, records: Mapping[str, AgentRecord]) -> dict[str, WorkflowAgent]:
    """Return the agents of a plan by id; one on call has the task id of the question that it answers now."""
    return {
        each.id: replace(each, task_id=record.task_id)
        if (record := records.get(each.id)) and record.task_id
        else each
        for each in plan.agents
    }


def workers(plan: WorkflowPlan) -> Iterator[WorkflowAgent]:
    """Yield the agents that the plan has work for, in its order: all but verifiers, and who only answers."""
    waiting = on_call(plan)
    return (each for each in plan.agents if each.kind is not AgentKind.VERIFIER and each.id not in waiting)


def on_call(plan: WorkflowPlan) -> frozenset[str]:
    """Return the agents that only answer escalations: they start when they are asked."""
    named = plan.escalation
    return frozenset(each for each in (named.resolver, named.architect, named.loop) if each)


def answering_pair(brief: Brief, architect: str) -> tuple[Step, Step]:
    """Return the steps in which an architect on call answers a question, and its verifier judges the answer."""
    return _pair(brief, next(each for each in _plan(brief).agents if each.id == architect))


def resolving(brief: Brief, resolver: str, number: int) -> Step:
    """Return the step in which a resolver answers the escalation of a number. The daemon itself judges its file."""
    plan = _plan(brief)
    agent = next(each for each in plan.agents if each.id == resolver)
    own = brief.config.workspace is WorkspaceKind.WORKTREE
    return Step(
        id=f"{RESOLVE}:{number}",
        agent=resolver,
        title=f"Escalation {number}",
        instructions=f"Carry out orchestration/{agent.instructions} in the task's folder: answer the escalated notes.",
        phase=Phase.PLANNING,
        kind=WorkspaceKind.READ_ONLY if own else brief.config.workspace,
        workspace=resolver if own else "",
        gates=(Gate.NOTES, Gate.RESOLUTION),
        done_when=f"task_output/{resolution_file(number)} has an item for each note",
        bounds=_bounds(plan, agent),
        group=agent.group,
    )


def resolution_file(number: int) -> str:
    """Return the name of the file in which a resolver answers the escalation of a number."""
    return f"resolution_{number}.json"


def do(agent: str) -> str:
    """Return the step in which an agent works."""
    return f"do:{agent}"


def verify(agent: str) -> str:
    """Return the step that verifies an agent's work."""
    return f"verify:{agent}"


def _plan(brief: Brief) -> WorkflowPlan:
    if brief.workflow is None:
        raise ValueError("a task of the family workflow is made from its plan")
    return brief.workflow


def _pair(brief: Brief, agent: WorkflowAgent) -> tuple[Step, Step]:
    plan = _plan(brief)
    kind, tree, gates = _workspace(brief, agent)
    work = Step(
        id=do(agent.id),
        agent=agent.id,
        title=agent.title,
        instructions=f"Carry out orchestration/{agent.instructions} in the task's folder: {agent.title}",
        phase=PHASE_OF_KIND[agent.kind],
        needs=tuple(verify(each) for each in agent.needs),
        kind=kind,
        workspace=tree,
        gates=(Gate.NOTES, Gate.OUTPUTS, *gates),
        subtask=agent.id,
        done_when="\n".join(_done_when(agent)),
        claims=claims_in_tree(brief, agent),
        bounds=_bounds(plan, agent),
        group=agent.group,
    )
    judge = next(each for each in plan.agents if each.id == agent.verifier)
    joint = any(agent.id in each.subjects for each in plan.checkpoints)
    verdict = Gate.POC if agent.kind is AgentKind.POC else Gate.VERDICT
    merged = (Gate.MERGED,) if Gate.COMMIT in gates and not agent.scratch else ()
    looks = Step(
        id=verify(agent.id),
        agent=judge.id,
        title=agent.title,
        instructions=f"Carry out orchestration/{judge.instructions} in the task's folder, on the work of {agent.id}: "
        f"{agent.title}",
        phase=Phase.REVIEWING,
        needs=(work.id,),
        kind=kind,
        workspace=tree,
        gates=(*((Gate.JOINT,) if joint else (Gate.NOTES, verdict)), *merged),
        judges=work.id,
        subtask=agent.id,
        done_when="\n".join(_done_when(agent)),
        bounds=_bounds(plan, judge),
        group=judge.group,
    )
    return work, looks


def _checkpoint(brief: Brief, plan: WorkflowPlan, point: Checkpoint) -> Step:
    """Return the step that judges several agents together; it sees the branch, and is told where their work lies."""
    judge = next(each for each in plan.agents if each.id == point.verifier)
    own = brief.config.workspace is WorkspaceKind.WORKTREE
    names = ", ".join(point.subjects)
    return Step(
        id=verify(point.id),
        agent=judge.id,
        title=f"Checkpoint {point.id}",
        instructions=f"Carry out orchestration/{judge.instructions} in the task's folder, on the work of {names} "
        f"together: each gets a verdict of its own. If it fails only together, name the one that is to change.",
        phase=Phase.REVIEWING,
        after=tuple(do(each) for each in point.subjects),
        kind=WorkspaceKind.READ_ONLY if own else brief.config.workspace,
        workspace=f"checkpoint-{point.id}" if own else "",
        gates=(Gate.NOTES, Gate.CHECKPOINT),
        done_when="\n".join(point.criteria),
        bounds=_bounds(plan, judge),
        group=judge.group,
    )


def _workspace(brief: Brief, agent: WorkflowAgent) -> tuple[WorkspaceKind, str, tuple[Gate, ...]]:
    """Return where an agent works, and the gate that looks for its changes there."""
    if brief.config.workspace is not WorkspaceKind.WORKTREE or agent.workspace is WorkspaceKind.SHARED:
        return WorkspaceKind.SHARED, "", (Gate.CHANGED,)
    if agent.workspace is WorkspaceKind.READ_ONLY:
        return WorkspaceKind.READ_ONLY, agent.id, ()
    return WorkspaceKind.WORKTREE, agent.id, (Gate.COMMIT,)


def claims_in_tree(brief: Brief, agent: WorkflowAgent) -> tuple[str, ...]:
    """Return the files that an agent keeps others from changing: all of a tree that it shares."""
    apart = _workspace(brief, agent)[0] is not WorkspaceKind.SHARED and (
        location_of(brief.config, agent.id) is None
    )
    return claims_of(agent.files) if apart else (WHOLE,)


def _done_when(agent: WorkflowAgent) -> Iterator[str]:
    yield from (f"task_output/{path} exists" for path in agent.outputs)
    yield from (f"task_output/{each.path} shows: {each.text}" for each in agent.evidence)


def _bounds(plan: WorkflowPlan, agent: WorkflowAgent) -> tuple[tuple[str, int], ...]:
    """Return the limits of an agent's steps: its own bounds, then the plan's. Crashes are counted as retries."""
    own = dict(agent.own_bounds)
    counted = {name: own.get(name, getattr(plan.bounds, name)) for name in _LIMIT_OF_BOUND}
    named = {_LIMIT_OF_BOUND[name]: most for name, most in counted.items() if most is not None}
    named["max_rejections"] = own.get("verifications", plan.bounds.verifications)
    return (*_ALWAYS, *sorted(named.items()))
