"""`task setup-agents`: writes the default agents into a project, adds what is missing, overwrites nothing (H5)."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from orchestrator.cli.exits import CommandError, Exit, forbid_inside_run
from orchestrator.formats.agent_file import read_agent, render_claude_agent, render_kiro_agent
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.agents import Agent
from orchestrator.shipped import shipped

EXAMPLE = "task setup-agents --project ~/src/shop"


def arguments(parser: ArgumentParser) -> None:
    """Say what `task setup-agents` understands."""
    parser.add_argument(
        "--project", metavar="PATH", default=".", help="the project's folder, if you are not in it"
    )


def run(options: Namespace) -> int:
    """Write each default agent in each form that is not there yet."""
    forbid_inside_run("setup-agents")
    project = Path(options.project).expanduser().resolve()
    if not project.is_dir():
        raise CommandError(Exit.USAGE, f"{project} is no folder: give the project's by --project PATH")
    disk, kept = DiskFiles(), 0
    for agent in _defaults():
        for path, text in _forms(project, agent):
            disk.make_folder(path.parent, 0o755)
            if disk.create(path, text.encode(), 0o644):
                print(f"wrote {path.relative_to(project)}")
            else:
                kept += 1
    if kept:
        print(f"kept {kept} that were there")
    print("change them as you like, or add your own beside them: nothing is ever overwritten")
    return Exit.DONE


def _defaults() -> Iterator[Agent]:
    for path in sorted(shipped("agents").glob("*.md")):
        yield read_agent(path.read_bytes(), str(path), trusted=True)


def _forms(project: Path, agent: Agent) -> Iterator[tuple[Path, str]]:
    """Yield where an agent is defined for each CLI that has definitions, and how (HUB 3.4)."""
    yield project / ".claude" / "agents" / f"{agent.name}.md", render_claude_agent(agent)
    yield project / ".kiro" / "agents" / f"{agent.name}.json", render_kiro_agent(agent)
