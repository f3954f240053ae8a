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
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Final

from orchestrator.model.agents import Agent
from orchestrator.model.plan import Gate, Step
from orchestrator.model.task import Brief, Phase, WorkspaceKind
from orchestrator.model.workflow import AgentKind, Checkpoint, WorkflowAgent, WorkflowPlan
from orchestrator.pm.plan.families.rules import Caps, FamilyRules
from orchestrator.pm.state.claims import WHOLE, claims_of, overlap

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
    """Return a definition for each agent of the plan: its persona's, or what task.md says of the agent itself."""
    return {each.id: _cast(each, found) for each in _plan(brief).agents}


def _cast(wanted: WorkflowAgent, found: Mapping[str, Agent]) -> Agent:
    persona = found.get(wanted.id) or found[wanted.persona]
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


def lacks(plan: WorkflowPlan, brief: Brief) -> list[str]:
    """Return why a plan cannot be carried out; an empty list if it can.

    The design check looks at much more; what stands here would break the engine, or is not there yet.
    """
    agents = {each.id: each for each in plan.agents}
    found = [f"the agent id {each.id} is used twice" for each in plan.agents if agents[each.id] is not each]
    found += [] if any(workers(plan)) else ["no agent of it works"]
    architects = (agents[each] for each in (plan.escalation.architect,) if each in agents)
    for agent in (*workers(plan), *architects):
        judge = agents.get(agent.verifier)
        if judge is None or judge.kind is not AgentKind.VERIFIER:
            found.append(f"{agent.id} has no verifier: name one of kind verifier")
        worked_on = {each.id for each in workers(plan)}
        found += [
            f"{agent.id} needs {need}, and no such agent works"
            for need in agent.needs
            if need not in worked_on
        ]
    try:
        TopologicalSorter({each.id: each.needs for each in workers(plan)}).prepare()
    except CycleError as error:
        found.append(f"agents wait for each other in a circle: {' -> '.join(error.args[1])}")
    planned = {each.text for each in plan.criteria}
    found += [f"nothing meets the criterion: {text}" for text in brief.criteria if text not in planned]
    shown = {f"{agent.id}.{each.id}" for agent in workers(plan) for each in agent.evidence}
    found += [
        f"a criterion names {by}, which is no evidence of an agent: {each.text}"
        for each in plan.criteria
        for by in each.by
        if by not in shown
    ]
    found += [
        f"the criterion has nothing that meets it: {each.text}" for each in plan.criteria if not each.by
    ]
    names = {agent.id for agent in plan.agents}
    tried = {agent.id for agent in plan.agents if agent.kind is AgentKind.POC}
    for point in plan.checkpoints:
        if point.id in names:
            found.append(f"the checkpoint {point.id} has the name of an agent: choose another")
        if any(
            agents.get(each) is None or agents[each].verifier != point.verifier for each in point.subjects
        ):
            found.append(f"the checkpoint {point.id} and its subjects must have the same verifier")
        if tried & set(point.subjects):
            found.append(f"the checkpoint {point.id} judges a proof of concept, which is decided alone")
        found += _held_up(plan, brief, point)
    return found + _not_yet(plan, brief)


def _held_up(plan: WorkflowPlan, brief: Brief, point: Checkpoint) -> list[str]:
    """Return which subjects of a checkpoint would wait there for an agent that waits for their files.

    What is handed in keeps its files until it is merged, and at a checkpoint that is when the others are ready.
    """
    claims = {each.id: _claims(brief, each) for each in workers(plan)}
    before = _needed_by(plan)
    return [
        f"{subject} waits at the checkpoint {point.id} with its files, and {other} is to change the same: give them "
        f"different `files`, or let one need the other"
        for subject in point.subjects
        for other in claims
        if other != subject
        and subject in claims
        and other not in before[subject]
        and subject not in before[other]
        and overlap(claims[subject], claims[other])
    ]


def _needed_by(plan: WorkflowPlan) -> dict[str, set[str]]:
    """Return all that each agent needs, directly or not."""
    needs = {each.id: set(each.needs) for each in workers(plan)}
    found = {name: set(first) for name, first in needs.items()}
    for closure in found.values():
        left = list(closure)
        while left:
            fresh = needs.get(left.pop(), set()) - closure
            closure.update(fresh)
            left += fresh
    return found


def _not_yet(plan: WorkflowPlan, brief: Brief) -> list[str]:
    """Return what a plan or its task.md asks for that the engine does not do."""
    found = list[str]()
    kinds = {each.id: each.kind for each in plan.agents}
    named = plan.escalation
    found += [
        f"escalation.{role} is {each}, which is no agent of the kind architect"
        for role, each in (("resolver", named.resolver), ("architect", named.architect), ("loop", named.loop))
        if each and kinds.get(each) is not AgentKind.ARCHITECT
    ]
    if brief.config.pm:
        found.append("task.md has `pm:`, but the plan of a workflow says what is done next")
    places = [brief.config.cwd, *(each.cwd for each in brief.config.agents.values())]
    if any(place is not None and place.host for place in places) or brief.config.host:
        found.append(
            "its agents can only work on this machine: take `cwd: host:…` and `host:` out of task.md"
        )
    return found


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
        claims=_claims(brief, agent),
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


def _claims(brief: Brief, agent: WorkflowAgent) -> tuple[str, ...]:
    """Return the files that an agent keeps others from changing: all of a tree that it shares."""
    return (WHOLE,) if _workspace(brief, agent)[0] is WorkspaceKind.SHARED else claims_of(agent.files)


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
