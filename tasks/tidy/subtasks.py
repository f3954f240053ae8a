"""The plan: what is to be done, in order, and what is left to a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from errors import ArtifactError


@dataclass(frozen=True)
class Subtask:
    """One change of its own: some rules, in some files; those of `keep_imports` lose no import by it."""

    id: str
    title: str
    rules: tuple[str, ...]
    files: tuple[str, ...]
    findings: int
    unsafe: bool
    keep_imports: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As plan.json keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, said: Mapping[str, object]) -> Subtask:
        """As plan.json has it."""
        rules, files = said.get("rules"), said.get("files")
        keep_imports = said.get("keep_imports", [])
        if not (isinstance(rules, list) and isinstance(files, list) and isinstance(keep_imports, list)):
            raise ArtifactError("plan.json has a subtask without rules or files.")
        return cls(
            id=str(said.get("id")),
            title=str(said.get("title")),
            rules=tuple(map(str, rules)),
            files=tuple(map(str, files)),
            findings=int(str(said.get("findings", 0))),
            unsafe=bool(said.get("unsafe")),
            keep_imports=tuple(map(str, keep_imports)),
        )


@dataclass(frozen=True)
class Left:
    """Findings of one rule that are left to a person."""

    code: str
    name: str
    findings: int
    why: str


@dataclass(frozen=True)
class Plan:
    """What is to be done, in order, and what is not."""

    subtasks: tuple[Subtask, ...]
    left: tuple[Left, ...]

    def to_json(self) -> dict[str, object]:
        """As plan.json keeps it."""
        return {
            "subtasks": [subtask.to_json() for subtask in self.subtasks],
            "left": list(map(asdict, self.left)),
        }

    @classmethod
    def from_json(cls, said: dict[str, object]) -> Plan:
        """As plan.json has it.

        Raises:
            ArtifactError: it was not written by this template.
        """
        subtasks, left = said.get("subtasks"), said.get("left")
        if not (isinstance(subtasks, list) and isinstance(left, list)):
            raise ArtifactError("plan.json has no subtasks: let plan run again.")
        return cls(
            tuple(map(Subtask.from_json, subtasks)),
            tuple(Left(str(a["code"]), str(a["name"]), int(a["findings"]), str(a["why"])) for a in left),
        )

    def subtask(self, name: str) -> Subtask:
        """The subtask of that id.

        Raises:
            ArtifactError: the plan has none.
        """
        for subtask in self.subtasks:
            if subtask.id == name:
                return subtask
        raise ArtifactError(
            f"plan.json has no subtask {name!r}: this template only does what its own plan made."
        )
