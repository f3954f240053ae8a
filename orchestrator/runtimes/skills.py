"""Which skills there are: the project's before the user's own, wherever the agent CLIs keep theirs (H12)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.formats.skill_file import read_skill
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import BadFile, Refused
from orchestrator.model.names import checked_name
from orchestrator.model.skills import Skill
from orchestrator.ports.files import Files

SKILL: Final = "SKILL.md"

OF_PROJECT: Final = (
    ".claude/skills",
    ".agents/skills",
    ".codex/skills",
    ".gemini/skills",
    ".opencode/skills",
    ".opencode/skill",
    ".kiro/skills",
)
OF_USER: Final = (
    ".claude/skills",
    ".agents/skills",
    ".codex/skills",
    ".gemini/skills",
    ".config/opencode/skills",
    ".config/opencode/skill",
    ".kiro/skills",
)

_LARGEST: Final = 262_144
_MOST: Final = 100
"""How many skills are taken of a folder, and in all: they are journaled with the task."""


@dataclass(frozen=True, slots=True)
class Skills:
    """The skills in the order in which they were found, and what a user should be told of those passed over."""

    found: tuple[Skill, ...] = ()
    warnings: tuple[str, ...] = ()


def find_skills(project: Path, home: Path | None, files: Files | None = None) -> Skills:
    """Find every skill that an agent could load. Of two with one name the first counts.

    Args:
        project: the user's project.
        home: the user's home, if there is one.
        files: the disk, if it is not this machine's.

    """
    files = files or DiskFiles()
    folders = [project / folder for folder in OF_PROJECT]
    folders += [home / folder for folder in OF_USER] if home else []
    found: dict[str, Skill] = {}
    warnings: list[str] = []
    for folder in folders:
        for skill in _in(files, folder, warnings):
            found.setdefault(skill.name, skill)
    if len(found) > _MOST:
        warnings.append(f"there are {len(found)} skills: only the first {_MOST} are known to the PM")
    return Skills(tuple(found.values())[:_MOST], tuple(warnings))


def _in(files: Files, folder: Path, warnings: list[str]) -> list[Skill]:
    """Return the skills of one folder. One that does not read is passed over, with a warning."""
    try:
        # A link is looked into as well: many keep their skills elsewhere.
        names = sorted(entry.name for entry in files.entries(folder) if not entry.is_file)
    except (Refused, OSError) as error:
        warnings.append(f"{folder} does not read as a folder of skills: {error}")
        return []
    if len(names) > _MOST:
        warnings.append(f"{folder} holds {len(names)} skills: only the first {_MOST} are read")
    found = []
    for name in names[:_MOST]:
        path = folder / name / SKILL
        try:
            if files.entry(path) is not None:
                checked_name(name, "name of a skill's folder")  # it stands in orders
                found.append(read_skill(files.read(path, _LARGEST), str(path), name))
        except (Refused, OSError) as error:
            reason = error if isinstance(error, BadFile) else f"{path}: {error}"
            warnings.append(f"a skill was passed over: {reason}")
    return found
