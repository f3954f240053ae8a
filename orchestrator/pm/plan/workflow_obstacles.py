"""Why the plan of a workflow cannot be carried out: what would break the engine, or is not there yet.

The design check (`workflow_check`) looks at much more.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from orchestrator.model.agents import REMOTE_ROLES
from orchestrator.model.task import Brief, WorkspaceKind
from orchestrator.model.workflow import AgentKind, Checkpoint, WorkflowPlan
from orchestrator.pm.plan.families.workflow import claims_in_tree, workers
from orchestrator.pm.plan.work_location import leaves_a_tree, location_of
from orchestrator.pm.state.claims import overlap

if TYPE_CHECKING:
    from collections.abc import Iterator


def obstacles(plan: WorkflowPlan, brief: Brief) -> list[str]:
    """Return why a plan cannot be carried out, a sentence each; an empty list if it can."""
    return [
        *_bad_agents(plan),
        *_bad_needs(plan),
        *_bad_criteria(plan, brief),
        *_bad_checkpoints(plan, brief),
        *_not_yet(plan, brief),
    ]


def _bad_agents(plan: WorkflowPlan) -> Iterator[str]:
    agents = {each.id: each for each in plan.agents}
    yield from (
        f"the agent id {each.id} is used twice" for each in plan.agents if agents[each.id] is not each
    )
    if not any(workers(plan)):
        yield "no agent of it works"


def _bad_needs(plan: WorkflowPlan) -> Iterator[str]:
    agents = {each.id: each for each in plan.agents}
    worked_on = {each.id for each in workers(plan)}
    architects = (agents[each] for each in (plan.escalation.architect,) if each in agents)
    for agent in (*workers(plan), *architects):
        judge = agents.get(agent.verifier)
        if judge is None or judge.kind is not AgentKind.VERIFIER:
            yield f"{agent.id} has no verifier: name one of kind verifier"
        yield from (
            f"{agent.id} needs {need}, and no such agent works"
            for need in agent.needs
            if need not in worked_on
        )
    try:
        TopologicalSorter({each.id: each.needs for each in workers(plan)}).prepare()
    except CycleError as error:
        yield f"agents wait for each other in a circle: {' -> '.join(error.args[1])}"


def _bad_criteria(plan: WorkflowPlan, brief: Brief) -> Iterator[str]:
    planned = {each.text for each in plan.criteria}
    yield from (f"nothing meets the criterion: {text}" for text in brief.criteria if text not in planned)
    shown = {f"{agent.id}.{each.id}" for agent in workers(plan) for each in agent.evidence}
    yield from (
        f"a criterion names {by}, which is no evidence of an agent: {each.text}"
        for each in plan.criteria
        for by in each.by
        if by not in shown
    )
    yield from (
        f"the criterion has nothing that meets it: {each.text}" for each in plan.criteria if not each.by
    )


def _bad_checkpoints(plan: WorkflowPlan, brief: Brief) -> Iterator[str]:
    agents = {agent.id: agent for agent in plan.agents}
    tried = {agent.id for agent in plan.agents if agent.kind is AgentKind.POC}
    for point in plan.checkpoints:
        if point.id in agents:
            yield f"the checkpoint {point.id} has the name of an agent: choose another"
        subjects = [agents.get(each) for each in point.subjects]
        if any(each is None or each.verifier != point.verifier for each in subjects):
            yield f"the checkpoint {point.id} and its subjects must have the same verifier"
        if tried & set(point.subjects):
            yield f"the checkpoint {point.id} judges a proof of concept, which is decided alone"
        yield from _held_up(plan, brief, point)


def _held_up(plan: WorkflowPlan, brief: Brief, point: Checkpoint) -> list[str]:
    """Return which subjects of a checkpoint would wait there for an agent that waits for their files.

    What is handed in keeps its files until it is merged, and at a checkpoint that is when the others are ready.
    """
    claims = {each.id: claims_in_tree(brief, each) for each in workers(plan)}
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
    return [*found, *_on_boxes(plan, brief)]


def _on_boxes(plan: WorkflowPlan, brief: Brief) -> Iterator[str]:
    """Yield why agents cannot work on the boxes that task.md names."""
    agents, config = {each.id: each for each in plan.agents}, brief.config
    if config.cwd is not None and config.cwd.host and not REMOTE_ROLES & set(agents):
        yield "no agent of the plan is named dev or architect: take `cwd:` out of task.md, or write `AGENT.cwd:`"
    for name, own in config.agents.items():
        far = [("cwd", own.cwd is not None and own.cwd.host), ("host", own.host)]
        yield from (
            f"{name} is no agent of the plan: take `{name}.{key}:` out of task.md, or name an agent of the plan there"
            for key, is_far in far
            if is_far and name not in agents
        )
    for each in plan.agents:
        place = location_of(config, each.id)
        if place is None or not place.host:
            continue
        if each.kind is AgentKind.VERIFIER:
            yield f"{each.id} verifies, which is done on this machine only: it cannot work on {place.host}"
        elif each.workspace is WorkspaceKind.WORKTREE and not leaves_a_tree(config, each.id):
            yield f"what {each.id} commits on {place.host} is merged here: write `bring: branch` into task.md"
