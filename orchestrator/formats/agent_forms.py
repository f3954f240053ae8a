"""Agent definitions in the forms of Codex, Gemini CLI and opencode, written for people who use these by themselves.

Each CLI takes only what it knows (Gemini refuses a file with any other field), and no model: a definition names
Claude's. Seen on Codex 0.169, Gemini CLI 0.61, opencode 1.18.
"""

from __future__ import annotations

import json
from typing import Final

from orchestrator.formats.front_matter import Value, render_front_matter
from orchestrator.formats.lines import trimmed
from orchestrator.formats.text import neutral, one_line
from orchestrator.model.agents import Agent

_TO_GEMINI: Final = {
    "Read": ("read_file", "read_many_files", "list_directory"),
    "Write": ("write_file",),
    "Edit": ("replace",),
    "Bash": ("run_shell_command",),
    "Grep": ("grep_search",),
    "Glob": ("glob",),
    "WebFetch": ("web_fetch",),
    "WebSearch": ("google_web_search",),
}
_OPENCODE_PERMISSIONS: Final = {
    "edit": frozenset({"Write", "Edit"}),
    "bash": frozenset({"Bash"}),
    "webfetch": frozenset({"WebFetch"}),
}


def render_gemini_agent(agent: Agent) -> str:
    """Return an agent as `.gemini/agents/NAME.md`. A tool that Gemini does not know is left out."""
    fields: dict[str, Value] = {"name": agent.name, "description": _description(agent)}
    tools = tuple(known for tool in agent.tools for known in _TO_GEMINI.get(tool, ()))
    if tools:
        fields["tools"] = tools
    return render_front_matter(fields, _prompt(agent))


def render_opencode_agent(agent: Agent) -> str:
    """Return an agent as `.opencode/agent/NAME.md`, for `opencode --agent NAME` as well as for its subagents."""
    lines = ["---", f"description: {json.dumps(_description(agent), ensure_ascii=False)}", "mode: all"]
    denied = [key for key, tools in _OPENCODE_PERMISSIONS.items() if not tools & set(agent.tools)]
    if agent.tools and denied:
        lines += ["permission:", *(f"  {key}: deny" for key in denied)]
    return "\n".join([*lines, "---", "", _prompt(agent)]).rstrip("\n") + "\n"


def render_codex_agent(agent: Agent) -> str:
    """Return an agent as `.codex/agents/NAME.toml`. Which tools it has is its session's affair there."""
    prompt = _prompt(agent)
    told = json.dumps(prompt, ensure_ascii=False) if "'''" in prompt else f"'''\n{prompt}\n'''"
    return (
        f"name = {json.dumps(agent.name)}\n"
        f"description = {json.dumps(_description(agent), ensure_ascii=False)}\n"
        f"developer_instructions = {told}\n"
    )


def _description(agent: Agent) -> str:
    """Return what an agent is for; Codex and Gemini refuse one that says nothing."""
    return one_line(agent.description) or f"The agent {agent.name}"


def _prompt(agent: Agent) -> str:
    return trimmed(neutral(agent.prompt).split("\n"))
