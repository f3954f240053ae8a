"""The texts about workflows that ship, and what stands in them."""

from __future__ import annotations

import re

from orchestrator.formats.persona_file import read_persona
from orchestrator.model.workflow import OUTPUT_FOLDER, AgentKind, WorkflowAgent, WorkflowPlan
from orchestrator.shipped import shipped

FOLDER = shipped("agents") / "workflow"
PERSONAS = {path.stem: read_persona(path.read_bytes(), path.name) for path in sorted(FOLDER.glob("*.md"))}
TEMPLATES = {path.name: path.read_text() for path in sorted((FOLDER / "protocols").glob("*.md"))}
SKILL = FOLDER / "skills" / "agent-workflow"
PAGES = {str(path.relative_to(FOLDER)): path.read_text() for path in sorted(FOLDER.rglob("*.md"))}


def blocks(text: str, language: str) -> list[str]:
    """Return what stands in the fenced blocks of a language, without the indent of the fence."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    return [
        "".join(line.removeprefix(indent) for line in body.splitlines(keepends=True))
        for indent, body in found
    ]


def prose(text: str) -> str:
    """Return a text without its fenced blocks."""
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)


def spans(text: str) -> list[str]:
    """Return each piece of code that stands within a line of prose."""
    return re.findall(r"`([^`\n]+)`", prose(text))


def filled(text: str) -> str:
    """Return a template with a value for each blank, as an instruction writer fills them in."""
    text = re.sub(r"<(?:subject_)?task_id>", "create_user_table_1727539200", text)
    return re.sub(r"<[a-z0-9_]+>", "database_agent", text)


def instructions(agent: WorkflowAgent, plan: WorkflowPlan) -> str:
    """Return instructions as the instruction writer makes them of a template."""
    name = {AgentKind.VERIFIER: "verifier", AgentKind.ARCHITECT: "solution_architect"}.get(agent.kind, "doer")
    text = TEMPLATES[f"orchestration_{name}_agent_template.md"]
    inputs = [f"agents/{each.source}/{OUTPUT_FOLDER}/{each.path}" for each in agent.inputs]
    files = [*agent.outputs, *(each.path for each in agent.evidence)]
    subject = next((each for each in plan.agents if each.verifier == agent.id), agent)
    blanks = {
        "`agents/<upstream_agent>/task_output/<file>`": ", ".join(inputs),
        "<file>": ", ".join(files),
        "<agent>": agent.id,
        "<task_id>": agent.task_id,
        "<workflow>": plan.workflow,
        "<subject>": subject.id,
        "<subject_task_id>": subject.task_id,
    }
    for blank, value in blanks.items():
        text = text.replace(blank, value)
    return text
