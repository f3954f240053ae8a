"""Who has a commit in the repository here: the task that asks, the user, or other tasks alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.ports.workspaces import Holder
from orchestrator.workspaces.ref_compaction import GATHERED

if TYPE_CHECKING:
    from orchestrator.workspaces.repository import Repository

_HEADS: Final = "refs/heads/"


def holder(repository: Repository, branch: str, commit: str) -> Holder:
    """Return who has a commit, seen from the task with this branch. Raises Unavailable."""
    if not repository.commit_of(commit):
        return Holder.NOBODY
    said = repository.git.ask("for-each-ref", "--format=%(refname)", "--contains", commit)
    refs, name = said.splitlines(), branch.removeprefix("task/")
    own = (f"{_HEADS}{branch}", f"{GATHERED}{name}")
    below = (f"{_HEADS}task-work/{name}/", f"refs/tasks/{branch}/")
    if any(ref in own or ref.startswith(below) for ref in refs):
        return Holder.TASK
    tasks = (f"{_HEADS}task/", f"{_HEADS}task-work/", "refs/tasks/", GATHERED)
    if any(not ref.startswith(tasks) for ref in refs):
        return Holder.USER
    return Holder.OTHERS if refs else Holder.NOBODY
