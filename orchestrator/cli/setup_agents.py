"""`task setup-agents`: writes the default agents into a project, adds what is missing, overwrites nothing (H5)."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.formats.agent_file import read_agent, render_claude_agent, render_kiro_agent
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.agents import Agent
from orchestrator.shipped import shipped

EXAMPLE = "task setup-agents --project ~/src/shop"

FORMS: Final[dict[str, tuple[str, str, Callable[[Agent], str]]]] = {
    "claude": (".claude/agents", ".md", render_claude_agent),
    "kiro": (".kiro/agents", ".json", render_kiro_agent),
}
"""Where an agent is defined for each CLI that has definitions, and how (HUB 3.4)."""


def arguments(parser: ArgumentParser) -> None:
    """Say what `task setup-agents` understands."""
    parser.add_argument(
        "--project", metavar="PATH", default=".", help="the project's folder, if you are not in it"
    )
    parser.add_argument(
        "--form", choices=(*FORMS, "all"), default="all", help="for which CLI to write them (default: all)"
    )


def run(options: Namespace) -> int:
    """Write each default agent in each form that is not there yet, and say so file by file."""
    project = Path(options.project).expanduser().resolve()
    if not project.is_dir():
        raise CommandError(Exit.USAGE, f"{project} is no folder: give the project's by --project PATH")
    for path, outcome in setup_agents(project, list(FORMS) if options.form == "all" else [options.form]):
        print(f"{outcome} {path}")
    print("change them as you like, or add your own beside them: nothing is ever overwritten")
    return Exit.DONE


def setup_agents(project: Path, forms: Sequence[str]) -> list[tuple[str, str]]:
    """Write the agents that ship into a project, each in each of `forms`, where none is yet.

    Returns:
        For each file its path in the project, and `added`, or `kept` where there was one.

    Raises:
        OSError: one cannot be written; those before it are there, and another call goes on.

    """
    disk = DiskFiles()
    done = []
    for agent in _defaults():
        for form in forms:
            folder, suffix, render = FORMS[form]
            path = project / folder / f"{agent.name}{suffix}"
            disk.make_folder(path.parent, 0o755)
            added = disk.create(path, render(agent).encode(), 0o644)
            done.append((str(path.relative_to(project)), "added" if added else "kept"))
    return done


def _defaults() -> Iterator[Agent]:
    for path in sorted(shipped("agents").glob("*.md")):
        yield read_agent(path.read_bytes(), str(path), trusted=True)
