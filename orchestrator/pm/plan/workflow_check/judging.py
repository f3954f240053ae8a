"""Checks verifiers, checkpoints and proofs of concept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.workflow import AgentKind
from orchestrator.pm.plan.workflow_check.findings import Design, DesignFinding, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.workflow import Checkpoint, Poc, WorkflowAgent

_FEWEST_SUBJECTS: Final = 2


def findings(design: Design) -> Iterator[DesignFinding]:
    """Yield what is wrong with who judges whom."""
    plan = design.plan
    busy = {agent.verifier for agent in plan.agents} | {each.verifier for each in plan.checkpoints}
    for at, agent in design.numbered:
        yield from _verifier(design, at, agent)
        if agent.kind is AgentKind.VERIFIER and agent.id not in busy:
            yield DesignFinding(
                Rule.VERIFIER_IDLE,
                f"{agent.id} verifies nobody",
                "make it the `verifier` of an agent, or remove it",
                ("agents", at),
            )
        yield from _poc(design, at, agent)
    ids, subjects = set[str](), set[str]()
    for at, checkpoint in enumerate(plan.checkpoints):
        if checkpoint.id in ids:
            yield DesignFinding(
                Rule.CHECKPOINT_TWICE,
                f"there are two checkpoints {checkpoint.id}",
                "give one another id",
                ("checkpoints", at, "id"),
            )
        ids.add(checkpoint.id)
        yield from _checkpoint(design, at, checkpoint, subjects)


def _verifier(design: Design, at: int, agent: WorkflowAgent) -> Iterator[DesignFinding]:
    path = ("agents", at, "verifier")
    if agent.kind is AgentKind.VERIFIER:
        if agent.verifier:
            yield DesignFinding(
                Rule.VERIFIER_OF_VERIFIER,
                f"{agent.id} is a verifier and has a verifier itself",
                "remove its `verifier`",
                path,
            )
        return
    if not agent.verifier:
        if agent.id not in design.on_call:
            yield DesignFinding(
                Rule.VERIFIER_MISSING,
                f"nobody verifies {agent.id}",
                "name an agent of the kind `verifier`",
                path,
            )
    elif agent.verifier == agent.id:
        yield DesignFinding(Rule.VERIFIER_SELF, f"{agent.id} verifies itself", "name another agent", path)
    elif agent.verifier not in design.agents:
        yield DesignFinding(
            Rule.VERIFIER_UNKNOWN,
            f"{agent.id} is verified by {agent.verifier}, which the plan does not have",
            design.near(agent.verifier),
            path,
        )
    elif (kind := design.agents[agent.verifier].kind) is not AgentKind.VERIFIER:
        yield DesignFinding(
            Rule.VERIFIER_KIND,
            f"{agent.id} is verified by {agent.verifier}, which is of the kind {kind}",
            "name an agent of the kind `verifier`",
            path,
        )


def _checkpoint(design: Design, at: int, checkpoint: Checkpoint, taken: set[str]) -> Iterator[DesignFinding]:
    path = ("checkpoints", at)
    judge = design.agents.get(checkpoint.verifier)
    sound = judge is not None and judge.kind is AgentKind.VERIFIER
    if not sound:
        yield DesignFinding(
            Rule.CHECKPOINT_VERIFIER,
            f"the checkpoint {checkpoint.id} is judged by {checkpoint.verifier}, which is no verifier of this plan",
            "name an agent of the kind `verifier`",
            (*path, "verifier"),
        )
    if len(checkpoint.subjects) < _FEWEST_SUBJECTS:
        yield DesignFinding(
            Rule.CHECKPOINT_FEW,
            f"the checkpoint {checkpoint.id} has fewer than two subjects",
            "name two agents, or remove the checkpoint: each agent's verifier judges it alone",
            (*path, "subjects"),
        )
    if not checkpoint.criteria:
        yield DesignFinding(
            Rule.CHECKPOINT_CRITERIA,
            f"the checkpoint {checkpoint.id} has no joint criteria",
            "say what must hold for its subjects together",
            path,
        )
    for number, name in enumerate(checkpoint.subjects):
        place = (*path, "subjects", number)
        subject = design.agents.get(name)
        if subject is None or subject.kind is AgentKind.VERIFIER:
            yield DesignFinding(
                Rule.CHECKPOINT_SUBJECT,
                f"{name} is a subject of the checkpoint {checkpoint.id}, and no agent of this plan that works",
                design.near(name),
                place,
            )
        elif name in taken:
            yield DesignFinding(
                Rule.CHECKPOINT_SUBJECT_TWICE,
                f"{name} is a subject of a checkpoint already",
                "keep one of them",
                place,
            )
        elif sound and subject.verifier != checkpoint.verifier and design.has_verifier(subject):
            yield DesignFinding(
                Rule.CHECKPOINT_OTHER_VERIFIER,
                f"{name} is verified by {subject.verifier}, and {checkpoint.id} by {checkpoint.verifier}",
                "write the same verifier in both",
                place,
            )
        taken.add(name)
    yield from _dependent_subjects(design, at, checkpoint)


def _dependent_subjects(design: Design, at: int, checkpoint: Checkpoint) -> Iterator[DesignFinding]:
    everybody = 0
    for name in checkpoint.subjects:
        everybody |= design.needs.bits.get(name, 0)
    for number, name in enumerate(dict.fromkeys(checkpoint.subjects)):
        if design.needs.closures.get(name, 0) & everybody:
            other = next(each for each in checkpoint.subjects if design.needs.needs(name, each))
            yield DesignFinding(
                Rule.CHECKPOINT_NEEDS,
                f"{name} needs {other}, and both are subjects of {checkpoint.id}: they are never ready together",
                "remove one of them from the checkpoint",
                ("checkpoints", at, "subjects", number),
            )


def _poc(design: Design, at: int, agent: WorkflowAgent) -> Iterator[DesignFinding]:
    path = ("agents", at, "poc")
    if agent.kind is not AgentKind.POC:
        if agent.poc is not None:
            yield DesignFinding(
                Rule.POC_KIND,
                f"{agent.id} has a `poc` and is of the kind {agent.kind}",
                "write `kind: poc`, or remove the `poc`",
                path,
            )
    elif agent.poc is None:
        yield DesignFinding(
            Rule.POC_MISSING,
            f"{agent.id} does not say what it tries",
            "add a `poc` with assumption, pass, fail and protects",
            ("agents", at),
        )
    else:
        yield from _poc_itself(design, at, agent, agent.poc)


def _poc_itself(design: Design, at: int, agent: WorkflowAgent, poc: Poc) -> Iterator[DesignFinding]:
    path = ("agents", at, "poc")
    if not poc.passes:
        yield DesignFinding(
            Rule.POC_HOLDS, f"{agent.id} does not say when the assumption holds", "fill in `pass`", path
        )
    if not poc.fails:
        yield DesignFinding(
            Rule.POC_FAILS, f"{agent.id} does not say when the assumption fails", "fill in `fail`", path
        )
    if not poc.protects:
        yield DesignFinding(
            Rule.POC_PROTECTS_NOBODY,
            f"{agent.id} protects nobody",
            "name the agents that rely on the assumption under `protects`",
            path,
        )
    for number, name in enumerate(poc.protects):
        place = (*path, "protects", number)
        if name not in design.agents:
            yield DesignFinding(
                Rule.POC_PROTECTS_UNKNOWN,
                f"{agent.id} protects {name}, which the plan does not have",
                design.near(name),
                place,
            )
        elif name in design.needs.closures and not design.needs.needs(name, agent.id):
            yield DesignFinding(
                Rule.POC_PROTECTS_UNNEEDING,
                f"{agent.id} protects {name}, which would not wait for it",
                f"add {agent.id} to the `needs` of {name}",
                place,
            )
