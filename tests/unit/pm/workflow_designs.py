"""The sound design of the fixtures, what is around it, and the designs that are made of it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from orchestrator.formats.workflow.plan import PlanDocument, read_plan_document
from orchestrator.formats.workflow.status import read_status
from orchestrator.pm.plan.workflow_check import DesignFinding, Surroundings, check_design

FIXTURES = Path(__file__).parents[2] / "fixtures" / "wf"
FOLDER = FIXTURES / "design"
PLAN = "workflow_coordination_plan.md"
SUMMARY = "conversation_summary_add_users.md"
STATUS = "shared_status.json"
CRITERIA = ("A user can be added", "The list of users is shown")
AROUND = Surroundings(
    task="add_users",
    criteria=CRITERIA,
    personas=("dev", "architect", "review"),
    runtimes=("claude", "command"),
    commands=("review",),
)


@dataclass(frozen=True)
class Checked:
    document: PlanDocument
    files: dict[str, str]
    findings: tuple[DesignFinding, ...]

    def line(self, finding: DesignFinding) -> str:
        """Return the text of the line that a finding points at."""
        number = self.document.mark(*finding.path).line if finding.file == PLAN else finding.line
        return self.files[finding.file].split("\n")[number - 1] if number else ""


def files() -> dict[str, str]:
    return {str(path.relative_to(FOLDER)): path.read_text() for path in FOLDER.rglob("*.md")}


def checked(contents: dict[str, str], around: Surroundings = AROUND) -> Checked:
    """Check a design whose files are these."""
    document = read_plan_document(contents[PLAN].encode())
    status = read_status(contents[STATUS].encode()) if STATUS in contents else None
    whole = replace(
        around,
        instructions={path: text for path, text in contents.items() if path.startswith("agents/")},
        summary=contents.get(SUMMARY, ""),
        status=status or around.status,
    )
    return Checked(document, contents, check_design(document.plan, whole))


@dataclass(frozen=True)
class Design:
    """A design made of the sound one: a row of `broken_designs.toml` or `sound_designs.toml`."""

    name: str
    rule: str = ""
    line: str = ""
    file: str = PLAN
    changes: tuple[tuple[str, str], ...] = ()
    appended: Mapping[str, str] = field(default_factory=dict)
    advice: bool = False

    def checked(self) -> Checked:
        contents = patched(files(), self.file, self.changes)
        for path, text in self.appended.items():
            contents[path] = contents.get(path, "") + text
        return checked(contents)


def designs(file: str) -> list[Design]:
    rows = tomllib.loads((FIXTURES / file).read_text())["design"]
    return [
        Design(**{**row, "changes": tuple((old, new) for old, new in row.get("changes", ()))}) for row in rows
    ]


def patched(contents: dict[str, str], file: str, changes: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the files with texts of one replaced, each of which must be there once."""
    text = contents[file]
    for old, new in changes:
        assert text.count(old) == 1, (text.count(old), old)
        text = text.replace(old, new)
    return {**contents, file: text}
