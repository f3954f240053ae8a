"""Slash commands of agent CLIs: stored in Claude Code's format, and rendered for each CLI that supports them.

Codex keeps such prompts only in the user's home, and Kiro has none that take arguments: neither gets any.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from orchestrator.formats.front_matter import read_front_matter, render_front_matter
from orchestrator.formats.text import one_line, refused
from orchestrator.model.names import checked_name

ARGUMENTS: Final = "$ARGUMENTS"
"""Replaced by the words that a user types after a command."""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A slash command: its name, its purpose, a hint at its arguments, and the prompt for the agent."""

    name: str
    description: str
    hint: str
    text: str


def read_command(data: bytes, name: str) -> SlashCommand:
    """Return a shipped command. `name` is what users type.

    Raises:
        BadFile: its front matter cannot be read.
        Refused: its name is invalid.

    """
    front = read_front_matter(data.decode())
    if front.faults:
        raise refused(name, front.faults)
    fields = {key: one_line(str(field.value)) for key, field in front.fields.items()}
    checked_name(name, "command name")
    return SlashCommand(
        name, fields.get("description", ""), fields.get("argument-hint", ""), front.body.strip("\n")
    )


def render_claude_command(command: SlashCommand) -> str:
    """Return a command as `.claude/commands/NAME.md`."""
    return render_front_matter(
        {"description": command.description, "argument-hint": command.hint}, f"{command.text}\n"
    )


def render_opencode_command(command: SlashCommand) -> str:
    """Return a command as `.opencode/command/NAME.md`."""
    return render_front_matter({"description": command.description}, f"{command.text}\n")


def render_gemini_command(command: SlashCommand) -> str:
    """Return a command as `.gemini/commands/NAME.toml`."""
    text = command.text.replace(ARGUMENTS, "{{args}}")
    described = json.dumps(f"{command.description} ({command.hint})", ensure_ascii=False)
    return f"description = {described}\nprompt = {json.dumps(text, ensure_ascii=False)}\n"
