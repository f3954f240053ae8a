"""`task setup-agents`: writes the default agents into a project; adds what is missing, overwrites nothing (H5).

By default for the installed CLIs, and always in the form that the PM itself reads, Claude Code's.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.formats.agent_file import read_agent, render_claude_agent, render_kiro_agent
from orchestrator.formats.agent_forms import (
    render_codex_agent,
    render_gemini_agent,
    render_opencode_agent,
)
from orchestrator.formats.command_forms import (
    SlashCommand,
    read_command,
    render_claude_command,
    render_gemini_command,
    render_opencode_command,
)
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.agents import Agent
from orchestrator.runtimes.cli_inventory import AGENT_CLIS, program_on
from orchestrator.shipped import shipped


@dataclass(frozen=True, slots=True)
class Form:
    """Where one CLI looks for agents, skills and slash commands in a project, and their format.

    `commands` is the pattern of a command's path; empty if the CLI has no commands in a project. `note` is printed
    for the user.
    """

    agents: str
    suffix: str
    render: Callable[[Agent], str]
    skills: str
    note: str = ""
    commands: str = ""
    render_command: Callable[[SlashCommand], str] = render_claude_command


FORMS: Final = {
    "claude": Form(
        ".claude/agents", ".md", render_claude_agent, ".claude/skills", commands=".claude/commands/{}.md"
    ),
    "codex": Form(".codex/agents", ".toml", render_codex_agent, ".agents/skills"),
    "gemini": Form(
        ".gemini/agents",
        ".md",
        render_gemini_agent,
        ".agents/skills",
        commands=".gemini/commands/{}.toml",
        render_command=render_gemini_command,
    ),
    "opencode": Form(
        ".opencode/agent",
        ".md",
        render_opencode_agent,
        ".agents/skills",
        "opencode has its own agents explore and plan: in this project these ones replace them",
        ".opencode/command/{}.md",
        render_opencode_command,
    ),
    "kiro": Form(".kiro/agents", ".json", render_kiro_agent, ".kiro/skills"),
}
"""By CLI (H5). aider knows neither agents nor skills. Codex, Gemini CLI and opencode share a folder of skills."""


OWN: Final = "claude"
"""The form that is always written: tasks run the agents of this form, with the user's changes (H5)."""

ALL: Final = "all"


def run(options: Namespace) -> int:
    """Write each default agent, skill and slash command that is missing, in each form, and print each file."""
    project = Path(options.project).expanduser().resolve()
    if not project.is_dir():
        raise CommandError(
            Exit.USAGE, f"{project} is not a folder: give the project's folder by --project PATH"
        )
    forms = forms_for(options.form, os.environ.get("PATH", ""))
    for path, outcome in setup_agents(project, forms):
        print(f"{outcome} {path}")
    for note in (FORMS[form].note for form in forms):
        if note:
            print(note)
    if options.form is None and len(forms) < len(FORMS):
        print(f"written for {', '.join(forms)}; for another agent CLI or for all of them add --form")
    print("change them as you like, or add your own next to them: nothing is ever overwritten")
    return Exit.DONE


def forms_for(wanted: str | None, path: str) -> list[str]:
    """Return the forms to write: the wanted one, or those of the CLIs on a `PATH`."""
    if wanted == ALL:
        return list(FORMS)
    if wanted is not None:
        return [wanted]
    here = {cli.name for cli in AGENT_CLIS if program_on(path, cli.program)}
    return [form for form in FORMS if form in here or form == OWN]


def setup_agents(project: Path, forms: Sequence[str]) -> list[tuple[str, str]]:
    """Write the shipped agents, skills and slash commands into a project, in each of `forms`, if missing.

    Returns:
        For each file its path in the project, and `added`, or `kept` if it existed.

    Raises:
        OSError: a file cannot be written; those before it are there, and another call continues.

    """
    disk = DiskFiles()
    done: dict[str, str] = {}
    for path, data, mode in _wanted([FORMS[form] for form in forms]):
        if path not in done:
            disk.make_folder((project / path).parent, 0o755)
            done[path] = "added" if disk.create(project / path, data, mode) else "kept"
    return list(done.items())


def _wanted(forms: Sequence[Form]) -> Iterator[tuple[str, bytes, int]]:
    """Yield path in the project, content and mode of every file that should exist."""
    for path in sorted(shipped("agents").glob("*.md")):
        agent = read_agent(path.read_bytes(), str(path), trusted=True)
        for form in forms:
            yield f"{form.agents}/{agent.name}{form.suffix}", form.render(agent).encode(), 0o644
    skills = shipped("agents") / "skills"
    for path in sorted(each for each in skills.rglob("*") if each.is_file()):
        mode = 0o755 if path.parent.name == "scripts" else 0o644
        for form in forms:
            yield f"{form.skills}/{path.relative_to(skills)}", path.read_bytes(), mode
    for path in sorted((shipped("agents") / "commands").glob("*.md")):
        command = read_command(path.read_bytes(), path.stem)
        for form in forms:
            if form.commands:
                yield form.commands.format(command.name), form.render_command(command).encode(), 0o644
