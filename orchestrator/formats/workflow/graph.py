"""Draws a plan: as text, Mermaid, DOT or plain values, with the status of each agent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from orchestrator.formats.text import one_line
from orchestrator.model.workflow import AgentKind, WorkflowAgent, WorkflowPlan
from orchestrator.model.workflow_records import AgentStatus, SharedStatus

_COLOURS: Final = {
    "pending": "#e0e0e0",
    "working": "#b3d4ff",
    "completion_drive_review": "#b3d4ff",
    "ready_for_verification": "#fff0b3",
    "verified": "#b7ebc0",
    "blocked": "#ffd0a0",
    "failed": "#ffb3b3",
    "session_complete": "#b7ebc0",
}
_MERMAID: Final = {
    AgentKind.DOER: ("[", "]"),
    AgentKind.POC: ("{{", "}}"),
    AgentKind.ARCHITECT: ("([", "])"),
    AgentKind.VERIFIER: ("(", ")"),
}
_DOT: Final = {
    AgentKind.DOER: "box",
    AgentKind.POC: "hexagon",
    AgentKind.ARCHITECT: "ellipse",
    AgentKind.VERIFIER: "note",
}


def statuses_of(plan: WorkflowPlan, status: SharedStatus | None) -> dict[str, str]:
    """Return the status of each agent by its id; `pending` where none is known."""
    known: dict[str, str] = {}
    if status is not None:
        known = {entry.name: entry.status.value for entry in status.agents}
        known |= {entry.name: entry.status.value for entry in status.verification}
    return {agent.id: known.get(agent.id, AgentStatus.PENDING.value) for agent in plan.agents}


def graph_values(plan: WorkflowPlan, statuses: Mapping[str, str]) -> dict[str, Any]:
    """Return nodes and edges as plain values."""
    return {
        "workflow": plan.workflow,
        "nodes": [
            {
                "id": agent.id,
                "title": agent.title,
                "kind": agent.kind.value,
                "persona": agent.persona,
                "runtime": agent.runtime,
                "group": agent.group,
                "verifier": agent.verifier,
                "status": statuses.get(agent.id, AgentStatus.PENDING.value),
            }
            for agent in plan.agents
        ],
        "edges": [
            {"source": source, "target": target, "kind": kind} for source, target, kind in _edges(plan)
        ],
    }


def text_graph(plan: WorkflowPlan, statuses: Mapping[str, str]) -> str:
    """Return a plan as text: one agent a line, in layers: those of one layer wait only for earlier layers."""
    lines = list[str]()
    layers = _layers(plan)
    width = max((len(agent.id) for agent in plan.agents), default=0)
    for number, layer in enumerate(layers, 1):
        lines.append(f"step {number}")
        lines += [_line(agent, statuses, width) for agent in layer]
    judges = [agent for agent in plan.agents if agent.kind is AgentKind.VERIFIER]
    if judges:
        lines.append("verifiers")
        lines += [_line(agent, statuses, width) for agent in judges]
    for point in plan.checkpoints:
        lines.append(f"checkpoint {point.id}: {point.verifier} judges {', '.join(point.subjects)} together")
    return "".join(f"{line}\n" for line in lines)


def mermaid_graph(plan: WorkflowPlan, statuses: Mapping[str, str], title: str = "") -> str:
    """Return a plan as a Mermaid flowchart, with a title above it, if any is given."""
    lines = ["---", f"title: {json.dumps(one_line(title))}", "---"] if title else []
    lines += ["flowchart LR"]
    for agent in plan.agents:
        opened, closed = _MERMAID[agent.kind]
        said = _mermaid_text(f"{agent.id}: {one_line(agent.title)}")
        lines.append(f'    {_node(agent.id)}{opened}"{said}"{closed}:::{statuses.get(agent.id, "pending")}')
    for source, target, kind in _edges(plan):
        arrow = {"needs": "-->", "verifies": "-.->|verifies|", "protects": "-.->|protects|"}[kind]
        lines.append(f"    {_node(source)} {arrow} {_node(target)}")
    used = {statuses.get(agent.id, "pending") for agent in plan.agents}
    lines += [
        f"    classDef {name} fill:{colour},stroke:#555" for name, colour in _COLOURS.items() if name in used
    ]
    return "".join(f"{line}\n" for line in lines)


def dot_graph(plan: WorkflowPlan, statuses: Mapping[str, str], title: str = "") -> str:
    """Return a plan in the language of Graphviz, with a title above it, if any is given."""
    lines = ["digraph workflow {", "    rankdir=LR;", "    node [style=filled];"]
    lines += [f"    labelloc=t; label={_dot_text(one_line(title))};"] if title else []
    for agent in plan.agents:
        status = statuses.get(agent.id, "pending")
        label = _dot_text(f"{agent.id}\n{one_line(agent.title)}\n{status}")
        colour = _COLOURS.get(status, "#ffffff")
        lines.append(
            f'    {_dot_text(agent.id)} [shape={_DOT[agent.kind]}, fillcolor="{colour}", label={label}];'
        )
    for source, target, kind in _edges(plan):
        style = "" if kind == "needs" else f" [style=dashed, label={_dot_text(kind)}]"
        lines.append(f"    {_dot_text(source)} -> {_dot_text(target)}{style};")
    return "".join(f"{line}\n" for line in (*lines, "}"))


def _edges(plan: WorkflowPlan) -> Iterator[tuple[str, str, str]]:
    """Yield who comes before whom, who verifies whom, and which proof of concept protects whom."""
    known = {agent.id: agent for agent in plan.agents}
    for agent in plan.agents:
        for need in agent.needs:
            if need in known:
                yield need, agent.id, "needs"
        if agent.verifier in known:
            yield agent.verifier, agent.id, "verifies"
        for name in agent.poc.protects if agent.poc else ():
            if name in known and agent.id not in known[name].needs:
                yield agent.id, name, "protects"


def _layers(plan: WorkflowPlan) -> list[list[WorkflowAgent]]:
    """Return the agents that work by the length of their longest chain of needs; those of circles come last."""
    agents = {agent.id: agent for agent in plan.agents if agent.kind is not AgentKind.VERIFIER}
    dependents: dict[str, list[str]] = {name: [] for name in agents}
    missing = dict.fromkeys(agents, 0)
    for name, agent in agents.items():
        for need in set(agent.needs) & agents.keys():
            dependents[need].append(name)
            missing[name] += 1
    layers, layer = list[list[WorkflowAgent]](), [name for name, count in missing.items() if not count]
    while layer:
        layers.append([agents.pop(name) for name in layer])
        after = list[str]()
        for name in layer:
            for dependent in dependents[name]:
                missing[dependent] -= 1
                after += [] if missing[dependent] else [dependent]
        layer = after
    return [*layers, list(agents.values())] if agents else layers


def _line(agent: WorkflowAgent, statuses: Mapping[str, str], width: int) -> str:
    said = [f"  {agent.id:{width}}  {statuses.get(agent.id, 'pending')}", one_line(agent.title)]
    if agent.kind in {AgentKind.POC, AgentKind.ARCHITECT}:
        said.append(f"({agent.kind})")
    if agent.needs:
        said.append(f"<- {', '.join(agent.needs)}")
    if agent.verifier:
        said.append(f"verifier: {agent.verifier}")
    return "  ".join(said)


def _node(name: str) -> str:
    """Return an id for Mermaid, where `end` and a `-` mean something."""
    return "a_" + name.replace("_", "__").replace("-", "_h")


def _mermaid_text(text: str) -> str:
    return "".join(sign if sign.isalnum() or sign in " .,:_-()/" else f"#{ord(sign)};" for sign in text)


def _dot_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
