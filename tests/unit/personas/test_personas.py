"""The personas of workflows are those that the document names, and each can be run in every CLI."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from orchestrator.cli.main import VERBS
from orchestrator.formats.agent_file import (
    read_agent,
    read_kiro_agent,
    render_claude_agent,
    render_kiro_agent,
)
from orchestrator.formats.agent_forms import render_codex_agent
from orchestrator.formats.command_forms import ARGUMENTS, render_claude_command, render_gemini_command
from orchestrator.formats.front_matter import read_front_matter
from orchestrator.formats.persona_file import Invocation, read_persona
from orchestrator.formats.skill_file import read_skill
from orchestrator.formats.task_file import read_brief
from orchestrator.model.agents import Role
from orchestrator.model.errors import BadFile
from tests.unit.personas.texts import PAGES, PERSONAS, SKILL, TEMPLATES, blocks, spans

IN_THE_DOCUMENT = {
    "Plan Development Agent": "plan-developer",
    "Workflow Designer Agent": "workflow-designer",
    "Agent Roster Designer": "agent-roster-designer",
    "Workflow Sequencing Agent": "workflow-sequencing",
    "Instruction Writer Agent": "instruction-writer",
    "File Structure Designer": "file-structure-designer",
    "Validation Checkpoint Designer": "validation-checkpoint-designer",
    "Risk Assessment Coordinator Agent": "risk-assessment",
    "Technology Best Practices Research Agent": "best-practices-research",
    "Doer Agent Consultation": "doer-consultation",
    "PoC Recommendation Agent": "poc-recommendation",
    "PoC Integration Agent": "poc-integration",
    "Best Practices Integration Agent": "best-practices-integration",
    "PoC Evidence Reviewer Agent": "poc-evidence-reviewer",
    "PoC Decision Agent": "poc-decision",
    "Design Verifier Agent": "design-verifier",
    "Workflow Executor": "workflow-executor",
    "Escalation Resolution Agent": "escalation-resolution",
    "Workflow Adaptation Agent": "workflow-adaptation",
    "Loop Detection & Resolution": "loop-resolution",
    "Archival Agent, Archival Coordinator": "archival",
    "Do'er Agents": "workflow-doer",
    "Verifier Agents": "workflow-verifier",
    "Solution Architect Agent": "solution-architect",
}
"""By the document's names. Directory Setup and Shared Status Initializer are scripts there, and code here."""

SLASH_COMMANDS = {
    "plan-developer",
    "workflow-designer",
    "design-verifier",
    "workflow-executor",
    "risk-assessment",
    "escalation-resolution",
    "workflow-adaptation",
    "loop-resolution",
    "archival",
}
TASK_VERBS = {"start", "status", "why", "answer", "questions", "workflow"}
WORKFLOW_VERBS = {"new", "check", "approve", "show"}

each_persona = pytest.mark.parametrize("persona", PERSONAS.values(), ids=PERSONAS)
each_page = pytest.mark.parametrize("page", PAGES)


def test_every_persona_of_the_document_ships():
    assert set(PERSONAS) == set(IN_THE_DOCUMENT.values())
    assert not set(PERSONAS) & set(Role)


def test_every_template_of_the_document_ships():
    kinds = ("doer", "solution_architect", "verifier")
    assert list(TEMPLATES) == [f"orchestration_{kind}_agent_template.md" for kind in kinds]


@each_persona
def test_each_definition_is_whole(persona):
    agent = persona.agent
    assert (agent.name, agent.role, agent.command, agent.check) == (agent.source[:-3], None, (), ())
    assert agent.description
    assert agent.tools
    assert agent.model in {"haiku", "sonnet", "opus"}
    assert persona.invocation


def test_those_for_conversations_are_slash_commands():
    assert {
        name for name, each in PERSONAS.items() if Invocation.INTERACTIVE in each.invocation
    } == SLASH_COMMANDS


@each_persona
def test_each_reads_back_in_the_form_of_each_cli(persona):
    agent = persona.agent
    assert read_agent(render_claude_agent(agent).encode(), agent.source, trusted=False) == agent
    assert read_kiro_agent(render_kiro_agent(agent).encode(), agent.source, trusted=False) == agent
    assert tomllib.loads(render_codex_agent(agent))["developer_instructions"].strip() == agent.prompt


@each_persona
def test_no_cli_replaces_a_part_of_a_command(persona):
    """Claude Code and opencode run !`…`, read files by @ and fill in $1; Gemini CLI has !{…} and @{…}."""
    text = persona.command.text
    assert text.count(ARGUMENTS) == 1
    assert re.findall(r"!`|[!@]\{|(?<!\w)@\w|\$\d", text) == []
    assert persona.agent.prompt in render_claude_command(persona.command)
    prompt = tomllib.loads(render_gemini_command(persona.command))["prompt"]
    assert prompt == text.replace(ARGUMENTS, "{{args}}")


@each_persona
def test_each_takes_what_it_reads_as_data(persona):
    assert re.search(r"\b(is data|are data|no instructions)\b", " ".join(persona.agent.prompt.split()))


@each_persona
def test_who_writes_no_file_has_no_tool_for_it(persona):
    assert bool({"Write", "Edit"} & set(persona.agent.tools)) == bool(persona.writes)


@each_page
def test_each_command_of_task_is_one(page):
    found = [words.split() for words in re.findall(r"\btask ((?:[a-z]+ ?)+)", "\n".join(spans(PAGES[page])))]
    verbs = {words[0] for words in found}
    assert verbs <= TASK_VERBS
    assert verbs <= set(VERBS)
    assert {words[1] for words in found if words[0] == "workflow"} <= WORKFLOW_VERBS


@each_page
def test_each_persona_that_a_page_names_ships(page):
    found = spans(PAGES[page])
    commands = {match[1] for each in found if (match := re.match(r"/persona-([a-z-]+)", each))}
    assert commands <= SLASH_COMMANDS
    names = {each for each in found if re.fullmatch(r"[a-z]+(?:-[a-z]+)+", each)}
    assert names <= {*PERSONAS, SKILL.name}


def test_the_executor_only_uses_commands_of_task():
    executor = PERSONAS["workflow-executor"]
    assert executor.writes == ()
    assert not {"Write", "Edit", "Task"} & set(executor.agent.tools)
    shell = [each for each in spans(executor.agent.prompt) if re.match(r"[a-z]+ [a-zA-Z]", each)]
    assert [each for each in shell if not each.startswith("task ")] == []


def test_the_summary_has_the_six_sections_of_the_document():
    summary, _task = blocks(PERSONAS["plan-developer"].agent.prompt, "markdown")
    assert re.findall(r"^#+ .*$", summary, re.MULTILINE) == [
        "# Conversation Summary: [Task Name]",
        "## What We're Trying to Accomplish",
        "## Key Decisions Made",
        "## Constraints & Assumptions",
        "## Questions Resolved",
        "## Open Items",
        "## Dependencies & Integration Points",
    ]


def test_the_task_file_that_the_plan_developer_writes_is_read():
    _summary, task = blocks(PERSONAS["plan-developer"].agent.prompt, "markdown")
    assert read_brief(task.encode()).config.family == "workflow"


def test_the_skill_reads_and_its_links_lead_somewhere():
    skill = read_skill((SKILL / "SKILL.md").read_bytes(), "SKILL.md", SKILL.name)
    assert skill.name == SKILL.name
    assert "Use when" in skill.description
    for link in re.findall(r"\]\(([^)]+)\)", (SKILL / "SKILL.md").read_text()):
        assert (SKILL / link).is_file()


@pytest.mark.parametrize("invocation", ["", "invocation: sometimes\n"])
def test_a_persona_must_say_how_it_is_invoked(invocation):
    with pytest.raises(BadFile, match="invocation"):
        read_persona(f"---\nname: dev\n{invocation}---\n\nDo it.\n".encode(), "dev.md")


def test_fields_of_personas_reach_no_cli():
    text = render_claude_agent(PERSONAS["poc-decision"].agent)
    assert set(read_front_matter(text).fields) == {"name", "description", "tools", "model"}
    assert set(json.loads(render_kiro_agent(PERSONAS["archival"].agent))) == {
        "name",
        "description",
        "tools",
        "model",
        "prompt",
    }
