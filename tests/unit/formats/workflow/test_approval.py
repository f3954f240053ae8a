"""What an approval signs, and how plans are drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.formats.workflow.approval import approval_hash, canonical, definition_bytes, plan_hash
from orchestrator.formats.workflow.graph import (
    dot_graph,
    graph_values,
    mermaid_graph,
    statuses_of,
    text_graph,
)
from orchestrator.formats.workflow.plan import read_plan
from orchestrator.formats.workflow.plan_text import render_block
from orchestrator.formats.workflow.status import first_status
from orchestrator.model.agents import Agent
from orchestrator.model.task import WorkspaceKind
from orchestrator.model.workflow import Bounds, Input, PlanApproval, WorkflowPlan

PAGE = (Path(__file__).parents[3] / "fixtures/wf/design/workflow_coordination_plan.md").read_bytes()
PLAN = read_plan(PAGE)
INSTRUCTIONS = {agent.instructions: b"text" for agent in PLAN.agents}
DEFINITIONS = {agent.persona: definition_bytes(Agent(agent.persona)) for agent in PLAN.agents}


def signed(plan: WorkflowPlan, **more: Any) -> str:
    return approval_hash(plan, more.get("texts", INSTRUCTIONS), more.get("definitions", DEFINITIONS))


def one(**changes: Any) -> WorkflowPlan:
    return replace(PLAN, agents=(*PLAN.agents[:2], replace(PLAN.agents[2], **changes), *PLAN.agents[3:]))


def test_canonical_json_has_one_spelling():
    assert (
        canonical({"b": [1, None], "a": {"d": "é", "c": True}})
        == '{"a":{"c":true,"d":"é"},"b":[1,null]}'.encode()
    )


@pytest.mark.parametrize(
    "plan",
    [
        read_plan(f"```yaml\n{render_block(PLAN)}```\n".encode()),
        replace(PLAN, approval=PlanApproval("a", "b", 1)),
        replace(PLAN, max_parallel=1),
        replace(PLAN, bounds=Bounds(verifications=9)),
        replace(PLAN, groups=(("build", 1),)),
        one(own_bounds=(("crashes", 9),)),
    ],
)
def test_what_an_approval_does_not_sign(plan):
    assert signed(plan) == signed(PLAN)


@pytest.mark.parametrize(
    "plan",
    [
        one(needs=()),
        one(verifier="db_verifier"),
        one(persona="review"),
        one(runtime="codex"),
        one(files=("**",)),
        one(workspace=WorkspaceKind.SHARED),
        one(scratch=True),
        one(outputs=()),
        one(evidence=()),
        one(inputs=(Input("database_agent"),)),
        one(title="Other"),
        one(group=""),
        replace(PLAN, agents=PLAN.agents[::-1]),
        replace(PLAN, criteria=PLAN.criteria[:1]),
        replace(PLAN, checkpoints=()),
        replace(PLAN, escalation=replace(PLAN.escalation, resolver="")),
    ],
)
def test_what_an_approval_signs(plan):
    assert signed(plan) != signed(PLAN)


def test_an_approval_signs_instructions_and_definitions():
    path = PLAN.agents[0].instructions
    assert signed(PLAN, texts={**INSTRUCTIONS, path: b"other"}) != signed(PLAN)
    assert signed(PLAN, texts={**INSTRUCTIONS, "agents/nobody/x.md": b"other"}) == signed(PLAN)
    for changed in (Agent("dev", model="opus"), Agent("dev", prompt="x"), Agent("dev", command=("sh",))):
        assert signed(PLAN, definitions={**DEFINITIONS, "dev": definition_bytes(changed)}) != signed(PLAN)
    assert definition_bytes(Agent("dev", source="here")) == definition_bytes(Agent("dev", source="there"))


def test_name_of_a_version_covers_all_but_the_approval():
    assert plan_hash(replace(PLAN, approval=PlanApproval("a", "b", 1))) == plan_hash(PLAN)
    assert plan_hash(replace(PLAN, max_parallel=1)) != plan_hash(PLAN)


# Graphs --------------------------------------------------------------------------------------------------

STATUSES = {**statuses_of(PLAN, first_status(PLAN)), "probe": "verified", "api_agent": "working"}


def test_each_agent_is_drawn_once_with_its_status():
    nodes = graph_values(PLAN, STATUSES)["nodes"]
    assert [(node["id"], node["status"]) for node in nodes] == list(STATUSES.items())
    text = text_graph(PLAN, STATUSES).splitlines()
    for name, status in STATUSES.items():
        assert len([line for line in text if line.split()[:2] == [name, status]]) == 1


def test_layers_are_those_of_the_needs():
    lines = [
        line.split()[0] if line.startswith(" ") else line for line in text_graph(PLAN, STATUSES).splitlines()
    ]
    assert lines[:9] == [
        *("step 1", "probe", "solution_architect", "resolver"),
        *("step 2", "database_agent", "step 3", "api_agent", "screen_agent"),
    ]


def test_edges_are_needs_and_verifiers():
    edges = {tuple(edge.values()) for edge in graph_values(PLAN, STATUSES)["edges"]}
    assert ("probe", "database_agent", "needs") in edges
    assert ("db_verifier", "probe", "verifies") in edges
    assert len([edge for edge in edges if edge[2] == "needs"]) == sum(
        len(agent.needs) for agent in PLAN.agents
    )


@pytest.mark.parametrize("draw", [text_graph, mermaid_graph, dot_graph])
def test_odd_titles_do_not_break_a_drawing(draw):
    odd = 'x"]; end --> y\n  z{}|<b>\\'
    plain, drawn = draw(PLAN, STATUSES), draw(one(title=odd), STATUSES)
    assert drawn.count("\n") == plain.count("\n")
    if draw is mermaid_graph:
        line = next(line for line in drawn.splitlines() if "api__agent[" in line)
        assert line.count('"') == 2
        assert "-->" not in line
    if draw is dot_graph:
        assert '\\"]; end' in drawn


def test_a_plan_with_a_circle_can_be_drawn():
    agents = (replace(PLAN.agents[0], needs=("api_agent",)), *PLAN.agents[1:])
    drawn = text_graph(replace(PLAN, agents=agents), STATUSES)
    assert all(agent.id in drawn for agent in PLAN.agents)


def test_names_with_dashes_stay_apart_in_mermaid():
    agents = [replace(PLAN.agents[0], id=name, poc=None) for name in ("a-b", "a_b", "a_hb", "a-_b", "a_-b")]
    drawn = mermaid_graph(replace(PLAN, agents=tuple(agents)), {})
    nodes = {line.split("{{")[0] for line in drawn.splitlines() if "{{" in line}
    assert len(nodes) == len(agents)
