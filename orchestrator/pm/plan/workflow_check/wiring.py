"""Checks how agents hang together: needs, inputs, verifiers, checkpoints, groups, files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.task import WorkspaceKind
from orchestrator.model.workflow import AgentKind
from orchestrator.pm.plan.workflow_check import escalation, judging
from orchestrator.pm.plan.workflow_check.findings import Design, DesignFinding, Rule
from orchestrator.pm.state.claims import above, claims_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.workflow import WorkflowAgent


def findings(design: Design) -> Iterator[DesignFinding]:
    """Yield what is wrong between agents."""
    for at, agent in design.numbered:
        if agent.kind is not AgentKind.VERIFIER:
            yield from _needs(design, at, agent)
            yield from _inputs(design, at, agent)
    yield from _circles(design)
    yield from judging.findings(design)
    yield from _groups(design)
    yield from _overlaps(design)
    yield from escalation.findings(design)


def _needs(design: Design, at: int, agent: WorkflowAgent) -> Iterator[DesignFinding]:
    seen = set[str]()
    for number, need in enumerate(agent.needs):
        path = ("agents", at, "needs", number)
        if need == agent.id:
            yield DesignFinding(Rule.NEED_SELF, f"{agent.id} needs itself", "remove it", path)
        elif need in seen:
            yield DesignFinding(Rule.NEED_TWICE, f"{agent.id} needs {need} twice", "keep one", path)
        elif need not in design.agents:
            yield DesignFinding(
                Rule.NEED_UNKNOWN,
                f"{agent.id} needs {need}, which the plan does not have",
                design.near(need),
                path,
            )
        elif design.agents[need].kind is AgentKind.VERIFIER:
            yield DesignFinding(
                Rule.NEED_VERIFIER,
                f"{agent.id} needs the verifier {need}, which itself is never verified",
                "need the agents that it verifies",
                path,
            )
        elif need in design.on_call:
            yield DesignFinding(
                Rule.NEED_ON_CALL,
                f"{agent.id} needs {need}, which only runs when somebody escalates",
                "remove it, or do not name it under `escalation`",
                path,
            )
        seen.add(need)


def _inputs(design: Design, at: int, agent: WorkflowAgent) -> Iterator[DesignFinding]:
    needs, seen = set(agent.needs), set[tuple[str, str]]()
    for number, wanted in enumerate(agent.inputs):
        path: tuple[str | int, ...] = ("agents", at, "inputs", number, "from")
        source = design.agents.get(wanted.source)
        if source is None:
            yield DesignFinding(
                Rule.INPUT_UNKNOWN,
                f"{agent.id} reads from {wanted.source}, which the plan does not have",
                design.near(wanted.source),
                path,
            )
        elif wanted.source not in needs:
            yield DesignFinding(
                Rule.INPUT_NOT_NEEDED,
                f"{agent.id} reads from {wanted.source} and does not need it",
                f"add {wanted.source} to its `needs`",
                path,
            )
        elif wanted.path and not design.writes(wanted.source, wanted.path):
            yield DesignFinding(
                Rule.INPUT_NOT_WRITTEN,
                f"{agent.id} reads {wanted.path[:80]!a} of {wanted.source}, which does not write it",
                f"{wanted.source} writes {', '.join(source.outputs) or 'no outputs'}",
                ("agents", at, "inputs", number, "path"),
            )
        elif (wanted.source, wanted.path) in seen:
            yield DesignFinding(
                Rule.INPUT_TWICE, f"{agent.id} lists an input from {wanted.source} twice", "keep one", path
            )
        seen.add((wanted.source, wanted.path))
    sources = {wanted.source for wanted in agent.inputs}
    for number, need in enumerate(dict.fromkeys(agent.needs)):
        known = design.agents.get(need)
        if known is not None and known.kind is AgentKind.DOER and need not in sources and need != agent.id:
            yield DesignFinding(
                Rule.HANDOFF_UNCLEAR,
                f"{agent.id} needs {need} and reads nothing of it",
                f"add `{{from: {need}}}` to its `inputs`, or remove the need",
                ("agents", at, "needs", number),
            )


def _circles(design: Design) -> Iterator[DesignFinding]:
    places = {agent.id: at for at, agent in reversed(list(enumerate(design.plan.agents)))}
    for circle in design.needs.circles:
        shown = " needs ".join((*circle[:10], *(["…"] if len(circle) > 10 else []), circle[0]))  # noqa: PLR2004 (a line)
        yield DesignFinding(
            Rule.CYCLE,
            f"a circle: {shown}",
            "remove one of these needs",
            ("agents", places[circle[0]], "needs"),
        )


def _groups(design: Design) -> Iterator[DesignFinding]:
    plan = design.plan
    groups, used = dict(plan.groups), {agent.group for agent in plan.agents}
    for at, agent in design.numbered:
        if agent.group and agent.group not in groups:
            yield DesignFinding(
                Rule.GROUP_UNKNOWN,
                f"{agent.id} is in the group {agent.group}, which `groups` does not have",
                f"add `{agent.group}: {{at_once: 1}}` to `groups`",
                ("agents", at, "group"),
            )
    for name, at_once in plan.groups:
        if name not in used:
            yield DesignFinding(
                Rule.GROUP_UNUSED, f"nobody is in the group {name[:64]}", "remove it", ("groups", name)
            )
        elif at_once > plan.max_parallel:
            yield DesignFinding(
                Rule.GROUP_CAP,
                f"the group {name[:64]} may run {at_once} agents at once, and the workflow {plan.max_parallel}",
                "lower `at_once` or raise `max_parallel`",
                ("groups", name, "at_once"),
            )


def _overlaps(design: Design) -> Iterator[DesignFinding]:
    """Yield one finding for an agent whose files another one may change at the same time."""
    claimed: dict[str, list[str]] = {}
    for agent in design.plan.agents:
        writes = agent.kind is AgentKind.DOER and agent.workspace is not WorkspaceKind.READ_ONLY
        mine = claims_of(agent.files) if writes and not agent.scratch else ()
        for claim in mine:
            claimed.setdefault(claim, []).append(agent.id)
    places = {agent.id: at for at, agent in reversed(list(enumerate(design.plan.agents)))}
    found = set[str]()
    for claim, names in claimed.items():
        around = [*(claimed.get(each, ()) for each in above(claim))]
        for number, name in enumerate(names):
            others = [names[:number], *around]
            other = next(
                (each for part in others for each in part if design.needs.may_overlap(name, each)), None
            )
            if other is not None and name not in found:
                found.add(name)
                yield DesignFinding(
                    Rule.FILES_OVERLAP,
                    f"{name} and {other} both change {claim or 'the whole project'} and do not need each other: "
                    "they never run at once",
                    "let one need the other, or give them different files",
                    ("agents", places[name], "files"),
                )
