"""`task setup-agents`: writes what ships for agent CLIs into a project; adds what is missing, overwrites nothing (H5).

By default for the installed CLIs, and always in the form that the PM itself reads, Claude Code's. What was written can
be removed again as long as nobody has changed it.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

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
from orchestrator.formats.persona_file import Invocation, read_persona
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.agents import Agent
from orchestrator.model.errors import Refused
from orchestrator.runtimes.cli_inventory import AGENT_CLIS, program_on
from orchestrator.shipped import shipped


@dataclass(frozen=True, slots=True)
class Form:
    """Where one CLI looks for agents, skills and slash commands in a project, and their format.

    `commands` is the pattern of a command's path; empty if the CLI has no commands in a project. `note` is printed
    for the user who has the default agents written.
    """

    agents: str
    suffix: str
    render: Callable[[Agent], str]
    skills: str
    note: str = ""
    commands: str = ""
    render_command: Callable[[SlashCommand], str] = render_claude_command

    @property
    def protocols(self) -> PurePosixPath:
        """The folder of instruction templates. No CLI reads it by itself; the workflow document names it."""
        return PurePosixPath(self.agents).parent / "protocols"


ShippedFile: TypeAlias = tuple[str, bytes, int]
"""Path in the project, content and mode of a file that is written into it."""

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
    """Write what is missing of the default agents or the personas of workflows, or remove them; print each file."""
    project = Path(options.project).expanduser().resolve()
    if not project.is_dir():
        raise CommandError(
            Exit.USAGE, f"{project} is not a folder: give the project's folder by --project PATH"
        )
    if options.remove:
        forms = list(FORMS) if options.form in {None, ALL} else [options.form]
        done = remove_agents(project, forms, workflow=options.workflow)
        for path, outcome in done:
            print(f"{outcome} {path}")
        if "kept" in dict(done).values():
            print("kept is what you changed, or an earlier version wrote: delete it yourself if you want")
        return Exit.DONE
    forms = forms_for(options.form, os.environ.get("PATH", ""))
    for path, outcome in setup_agents(project, forms, workflow=options.workflow):
        print(f"{outcome} {path}")
    for note in (FORMS[form].note for form in forms if not options.workflow):
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


def setup_agents(project: Path, forms: Sequence[str], *, workflow: bool = False) -> list[tuple[str, str]]:
    """Write the shipped agents, skills and slash commands into a project, in each of `forms`, if missing.

    Args:
        project: the folder to write into.
        forms: the CLIs to write for.
        workflow: the personas and templates of workflows, instead of the default agents.

    Returns:
        For each file its path in the project, and `added`, or `kept` if it existed.

    Raises:
        OSError: a file cannot be written; those before it are there, and another call continues.

    """
    disk = DiskFiles()
    done: dict[str, str] = {}
    for path, data, mode in _shipped_files(forms, workflow=workflow):
        if path not in done:
            disk.make_folder((project / path).parent, 0o755)
            done[path] = "added" if disk.create(project / path, data, mode) else "kept"
    return list(done.items())


def remove_agents(project: Path, forms: Sequence[str], *, workflow: bool = False) -> list[tuple[str, str]]:
    """Remove what `setup_agents` writes, if nobody changed it; parameters and errors as there.

    A file that several CLIs share stays as long as another one of them has its agents in the project. Folders that
    become empty are removed.

    Returns:
        For each file that exists its path in the project, and `removed`, or `kept` if it is not as it ships.

    """
    disk = DiskFiles()
    others = [name for name, form in FORMS.items() if name not in forms and (project / form.agents).is_dir()]
    shared = {path for path, _, _ in _shipped_files(others, workflow=workflow)}
    done: dict[str, str] = {}
    for path, data, _mode in _shipped_files(forms, workflow=workflow):
        target = project / path
        if path in done or path in shared or disk.entry(target) is None:
            continue
        if not _holds(disk, target, data):
            done[path] = "kept"
            continue
        disk.remove(target)
        done[path] = "removed"
        _remove_empty(target.parent, project)
    return list(done.items())


def _holds(disk: DiskFiles, path: Path, data: bytes) -> bool:
    """Return whether a plain file has just this content."""
    try:
        return disk.read(path, len(data)) == data
    except (Refused, OSError):
        return False


def _remove_empty(folder: Path, project: Path) -> None:
    """Remove a folder of the project, and those above it, as far as they are empty."""
    while folder != project and folder.is_relative_to(project):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _shipped_files(forms: Sequence[str], *, workflow: bool) -> Iterator[ShippedFile]:
    """Yield every file that should exist, of the default agents or of workflows."""
    chosen = [FORMS[form] for form in forms]
    return _of_workflows(chosen) if workflow else _defaults(chosen)


def _defaults(forms: Sequence[Form]) -> Iterator[ShippedFile]:
    """Yield the agents that play roles, the skill about tasks, and its slash commands."""
    for path in sorted(shipped("agents").glob("*.md")):
        agent = read_agent(path.read_bytes(), str(path), trusted=True)
        for form in forms:
            yield _agent_file(form, agent)
    yield from _skill_files(shipped("agents") / "skills", forms)
    for path in sorted((shipped("agents") / "commands").glob("*.md")):
        command = read_command(path.read_bytes(), path.stem)
        for form in forms:
            if form.commands:
                yield _command_file(form, command)


def _of_workflows(forms: Sequence[Form]) -> Iterator[ShippedFile]:
    """Yield the personas of workflows, their skill, and the templates of instructions.

    A persona for conversations is a slash command, and an agent where the CLI has no commands.
    """
    folder = shipped("agents") / "workflow"
    for path in sorted(folder.glob("*.md")):
        persona = read_persona(path.read_bytes(), str(path))
        for form in forms:
            if Invocation.AUTONOMOUS in persona.invocation or not form.commands:
                yield _agent_file(form, persona.agent)
            if Invocation.INTERACTIVE in persona.invocation and form.commands:
                yield _command_file(form, persona.command)
    yield from _skill_files(folder / "skills", forms)
    for path in sorted((folder / "protocols").glob("*.md")):
        for form in forms:
            yield str(form.protocols / path.name), path.read_bytes(), 0o644


def _agent_file(form: Form, agent: Agent) -> ShippedFile:
    return f"{form.agents}/{agent.name}{form.suffix}", form.render(agent).encode(), 0o644


def _command_file(form: Form, command: SlashCommand) -> ShippedFile:
    return form.commands.format(command.name), form.render_command(command).encode(), 0o644


def _skill_files(skills: Path, forms: Sequence[Form]) -> Iterator[ShippedFile]:
    for path in sorted(each for each in skills.rglob("*") if each.is_file()):
        mode = 0o755 if path.parent.name == "scripts" else 0o644
        for form in forms:
            yield f"{form.skills}/{path.relative_to(skills)}", path.read_bytes(), mode
