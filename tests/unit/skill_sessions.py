"""Composite skills for tests: a skill of two phases, its sessions, and memory files that are complete."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.formats.skill.memory import COMPLETE
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.composite import (
    CompositeSkill,
    Context,
    Domain,
    DomainRules,
    SkillPhase,
    SkillSession,
    agent_memory_file,
)
from orchestrator.records.skill_key import skill_key
from orchestrator.records.skill_store import SkillStore

if TYPE_CHECKING:
    from tests.unit.cli.conftest import House

TASK_ID = "abc123def456"
PROJECT = Path("/home/ada/project")
STATE = PROJECT / "skill-orchestration/state/skill-orchestration-0a1b2c3d4e5f.json"
SKILL = CompositeSkill(
    "develop-project",
    (
        SkillPhase("clarification", "clarification", "Ask what is not clear."),
        SkillPhase("research", "research", context=Context.ALL),
    ),
    match=("develop*",),
)
RULES: DomainRules = {Domain.TECHNICAL: ("parser*", "code"), Domain.CREATIVE: ("poem*",)}


def session(skill: CompositeSkill = SKILL, request: str = "Develop a parser") -> SkillSession:
    """Return a session that just began."""
    return SkillSession("0a1b2c3d4e5f", str(PROJECT), skill.name, request)


def memory(phase: SkillPhase, task_id: str = TASK_ID, summary: str = "Found it.") -> bytes:
    """Return a complete memory file."""
    return (
        f"# Memory\n\n**Task:** {task_id}\n**Agent:** {phase.agent}\n**Phase:** {phase.id}\n\n"
        f"## Summary\n\n{summary}\n\n## Output\n\nIn `a.py`.\n\n{COMPLETE}\n"
    ).encode()


def memory_path(phase: SkillPhase, task_id: str = TASK_ID, project: Path = PROJECT) -> Path:
    """Return where the memory file of a phase lies."""
    return project / agent_memory_file(task_id, phase.agent)


def define_agents(house: House, *names: str) -> None:
    """Define agents in a project, of a program that the user's settings define."""
    folder = house.project / ".claude/agents"
    folder.mkdir(parents=True)
    for name in names:
        (folder / f"{name}.md").write_text(f"---\nname: {name}\nruntime: mine\n---\nMake it.\n")
    settings = house.root / "config" / "agent-orchestrator" / "config.toml"
    settings.parent.mkdir(parents=True, mode=0o700)
    settings.write_text("[runtimes.mine]\ncommand = ['true', '{prompt}']\n")
    settings.chmod(0o600)


def put(path: Path, current: SkillSession) -> None:
    """Write a state file as the daemon of a command's test would: `state/` lies beside the project."""
    files = DiskFiles()
    SkillStore(files, path, skill_key(files, Path(current.project).parent / "state")).save(current)
