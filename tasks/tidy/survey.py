"""What ruff found before anything was changed, as explore leaves it to the steps after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import linter
from errors import ArtifactError
from findings import Counts, Finding, Fix, Safety, counted
from linter import Manner
from repository import Repository
from scratch import exported


@dataclass(frozen=True)
class Survey:
    """The findings of one commit, and how ruff was asked for them."""

    commit: str
    manner: Manner
    files: int
    findings: tuple[Finding, ...]

    def rules(self) -> list[tuple[str, str, int, int]]:
        """For each rule, most findings first: code, name, findings, and how many of them ruff can mend."""
        total = Counter((finding.code, finding.name) for finding in self.findings)
        fixable = Counter(finding.code for finding in self.findings if finding.fix is not None)
        return [(code, name, number, fixable[code]) for (code, name), number in total.most_common()]

    def to_json(self) -> dict[str, object]:
        """As findings.json keeps it: of a fix only whether it is safe, for its edits soon fit no more."""
        return {
            "commit": self.commit,
            "manner": self.manner.to_json(),
            "files": self.files,
            "total": len(self.findings),
            "findings": [_row(finding) for finding in self.findings],
        }

    @classmethod
    def from_json(cls, said: Mapping[str, object]) -> Survey:
        """As findings.json has it.

        Raises:
            ArtifactError: it was not written by this template.
        """
        manner, rows = said.get("manner"), said.get("findings")
        if not (isinstance(manner, dict) and isinstance(rows, list)):
            raise ArtifactError("findings.json has no findings: let explore run again.")
        return cls(
            str(said.get("commit")),
            Manner.from_json(manner),
            int(str(said.get("files", 0))),
            tuple(_findings(rows)),
        )


def _row(finding: Finding) -> dict[str, object]:
    return {
        "path": finding.path,
        "row": finding.row,
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "fix": finding.fix.safety if finding.fix else None,
    }


def _findings(rows: Iterable[Mapping[str, object]]) -> Iterable[Finding]:
    for row in rows:
        fix = row.get("fix")
        yield Finding(
            path=str(row["path"]),
            code=str(row["code"]),
            name=str(row["name"]),
            message=str(row["message"]),
            row=int(str(row["row"])),
            fix=Fix(Safety(str(fix)), ()) if fix else None,
        )


def before_and_after(workspace: Repository, earlier: str, manner: Manner) -> tuple[Counts, Counts]:
    """All findings of an earlier commit, and all of the work tree as it stands."""
    with exported(workspace, earlier) as copy:
        before = counted(linter.findings(copy, manner, workspace.python_files(earlier)))
    return before, counted(linter.findings(workspace.folder, manner, workspace.python_files()))
