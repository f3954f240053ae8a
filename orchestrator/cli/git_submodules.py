"""What is said of a project's submodules: agents' worktrees have empty folders in their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orchestrator.cli.findings import Finding, Severity
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.workspaces.repository import Repository

TOPIC: Final = "submodules"
_NAMED: Final = 5


def of_submodules(repository: Repository, commit: str) -> Iterator[Finding]:
    """Yield a finding if a commit has submodules; none if git cannot tell: other checks report that."""
    try:
        paths = _paths(repository, commit)
    except (Refused, Unavailable):
        return
    if paths:
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        yield Finding(
            TOPIC,
            Severity.WARN,
            f"the folders of {', '.join(paths[:_NAMED])}{more} are empty in agents' worktrees, and what agents change "
            "there is in no commit; if the check needs them, have it fetch them first",
        )


def _paths(repository: Repository, commit: str) -> list[str]:
    """Return where `.gitmodules` of a commit wants submodules. Raises Refused, Unavailable."""
    if not repository.git.ask("ls-tree", "--full-tree", "--name-only", commit, "--", ".gitmodules"):
        return []
    words = ("config", "--blob", f"{commit}:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    return [entry.partition("\n")[2] for entry in repository.git.find(*words).split("\0") if entry]
