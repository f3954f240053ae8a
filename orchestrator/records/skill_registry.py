"""Which composite skills there are: those of the project, of the user, and those that ship (S2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from orchestrator.formats.skill.config import CONFIG_FILE, read_skill
from orchestrator.formats.skill.domains import RULES_FILE, joined_rules, read_domain_rules
from orchestrator.formats.suggestions import nearest
from orchestrator.formats.text import FILE_BYTES
from orchestrator.model.composite import CompositeSkill, DomainRules
from orchestrator.model.errors import Refused
from orchestrator.ports.files import Files

PROJECT_SKILLS: Final = "protocols/skill/composite"
"""The folder of composite skills in a project."""


@dataclass(frozen=True, slots=True)
class SkillRegistry:
    """The skills that were found, by name, with their files; and why others cannot be used, by name.

    Of two with the same name, that of the folder which comes first counts, even if it cannot be used.
    """

    skills: dict[str, CompositeSkill] = field(default_factory=dict)
    paths: dict[str, Path] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)

    def find(self, name: str) -> CompositeSkill:
        """Return a skill by its name. Raises Refused."""
        if name in self.faults:
            raise Refused(f"the skill {name} cannot be used: {self.faults[name]}")
        if name not in self.skills:
            raise Refused(
                f"there is no composite skill {name[:60]!a}{nearest(name, self.skills)}; `task skill list` lists them"
            )
        return self.skills[name]


def found_skills(files: Files, folders: Sequence[Path]) -> SkillRegistry:
    """Return the skills of some folders, each `NAME/config.yaml`."""
    registry = SkillRegistry()
    for folder in folders:
        for name, path in _configs(files, folder):
            if name in registry.paths:
                continue
            registry.paths[name] = path
            try:
                skill = read_skill(files.read(path, FILE_BYTES), str(path))
            except Refused as problem:
                registry.faults[name] = str(problem)
                continue
            if skill.name == name:
                registry.skills[name] = skill
            else:
                registry.faults[name] = f"{path}: its name is {skill.name}: write `name: {name}`"
    return registry


def found_rules(files: Files, folders: Sequence[Path]) -> DomainRules:
    """Return the rules for domains of all these folders together. Raises BadFile, Unreadable."""
    paths = [folder / RULES_FILE for folder in folders]
    return joined_rules(
        *(
            read_domain_rules(files.read(path, FILE_BYTES), str(path))
            for path in paths
            if files.entry(path) is not None
        )
    )


def _configs(files: Files, folder: Path) -> Iterator[tuple[str, Path]]:
    if files.entry(folder) is None:
        return
    for entry in sorted(files.entries(folder), key=lambda each: each.name):
        path = folder / entry.name / CONFIG_FILE
        if entry.is_folder and files.entry(path) is not None:
            yield entry.name, path
