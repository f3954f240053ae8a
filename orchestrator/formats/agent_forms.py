"""Agent definitions in the formats of Codex, Gemini CLI and opencode, for people who use these CLIs directly.

Each CLI gets only fields that it knows (Gemini refuses a file with any other field), and no model, as a definition
names Claude's. Checked with Codex 0.169, Gemini CLI 0.61, opencode 1.18.
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
    """Return an agent as `.gemini/agents/NAME.md`, without tools that Gemini does not know."""
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
    """Return an agent as `.codex/agents/NAME.toml`. In Codex the session, not the agent, decides about tools."""
    prompt = _prompt(agent)
    quoted = json.dumps(prompt, ensure_ascii=False) if "'''" in prompt else f"'''\n{prompt}\n'''"
    return (
        f"name = {json.dumps(agent.name)}\n"
        f"description = {json.dumps(_description(agent), ensure_ascii=False)}\n"
        f"developer_instructions = {quoted}\n"
    )


def _description(agent: Agent) -> str:
    """Return an agent's description, never empty: Codex and Gemini refuse an empty one."""
    return one_line(agent.description) or f"The agent {agent.name}"


def _prompt(agent: Agent) -> str:
    return trimmed(neutral(agent.prompt).split("\n"))
