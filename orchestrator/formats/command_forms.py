"""Slash commands of agent CLIs: kept in the form of Claude Code, and written as each CLI that has them wants them.

Codex keeps such prompts in a user's home alone, and Kiro none that take arguments: neither gets any.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from orchestrator.formats.front_matter import read_front_matter, render_front_matter
from orchestrator.formats.text import one_line, refused
from orchestrator.model.names import checked_name

ARGUMENTS: Final = "$ARGUMENTS"
"""Where the words come to stand that a user types behind a command."""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """What is typed behind a slash, what it is for, what may follow it, and what the agent is then told."""

    name: str
    description: str
    hint: str
    text: str


def read_command(data: bytes, name: str) -> SlashCommand:
    """Return a command as it ships. `name` is what it is typed as.

    Raises:
        BadFile: its front matter does not read.
        Refused: its name is none.

    """
    front = read_front_matter(data.decode())
    if front.faults:
        raise refused(name, front.faults)
    told = {key: one_line(str(field.value)) for key, field in front.fields.items()}
    checked_name(name, "command name")
    return SlashCommand(
        name, told.get("description", ""), told.get("argument-hint", ""), front.body.strip("\n")
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
