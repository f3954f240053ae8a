"""What git knows of a project: who has a commit, what a branch holds, how the user's own tree stands."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator.formats.named_files import named_among
from orchestrator.formats.tree_listing import differing, read_listing
from orchestrator.model.errors import Refused
from orchestrator.ports.workspaces import (
    BranchSurvey,
    FileChange,
    FileSeen,
    Holder,
    KeptWork,
)
from orchestrator.ports.worktree import Tree, checked_branch, checked_tree
from orchestrator.workspaces.branches import (
    tip_of,
)
from orchestrator.workspaces.fingerprint import listed, moved_between, walked
from orchestrator.workspaces.git_errors import classify_failures
from orchestrator.workspaces.holders import holder
from orchestrator.workspaces.lookup import (
    altered,
    commit_on,
    file_on,
    paths_on,
    survey,
)
from orchestrator.workspaces.places import Places
from orchestrator.workspaces.preservation import kept_refs
from orchestrator.workspaces.repository import Repository, checked_commit
from orchestrator.workspaces.tree_generations import trees_left


class GitReads:
    """What is read of a project by the git on the PATH: its branches, its commits, the user's own tree.

    Args:
        deadline: seconds that one git command may take.
        environ: the environment that git gets, of which only the user's own configuration of git counts.

    """

    def __init__(self, deadline: float = 60.0, *, environ: Mapping[str, str] | None = None) -> None:
        self._places = Places(deadline, dict(os.environ if environ is None else environ))

    @classify_failures
    def head(self, project: Path) -> str:
        """Return the commit that the user's tree stands on. Raises Refused."""
        return self._repository(project).head(project)

    @classify_failures
    def folder(self, project: Path) -> Path:
        """Return the git folder of the project's repository. Raises Refused."""
        return self._repository(project).folder

    @classify_failures
    def holder(self, project: Path, branch: str, commit: str) -> Holder:
        """Return who has a commit. Raises Refused, Unavailable."""
        return holder(self._repository(project), checked_branch(branch), checked_commit(commit))

    @classify_failures
    def file_on(self, project: Path, branch: str, path: str) -> FileSeen | None:
        """Return what a branch has at a path of the project; None if there is nothing. Raises Refused, Unavailable."""
        repository = self._repository(project)
        return file_on(repository, tip_of(repository, branch), path)

    @classify_failures
    def holds_named(self, project: Path, branch: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of these paths that a branch has, anywhere in the project. Raises Refused, Unavailable."""
        repository = self._repository(project)
        return named_among(names, paths_on(repository, tip_of(repository, branch)))

    @classify_failures
    def commit_on(self, project: Path, branch: str, name: str, *, beyond: str = "") -> str:
        """Return the full hash of a commit that a branch has; empty if it has no such. Raises Refused, Unavailable."""
        repository = self._repository(project)
        return commit_on(repository, tip_of(repository, branch), name, beyond)

    @classify_failures
    def altered(self, project: Path, base: str, commit: str, paths: Sequence[str]) -> tuple[FileChange, ...]:
        """Return how files at these paths differ between two commits. Raises Refused, Unavailable."""
        return altered(self._repository(project), checked_commit(base), checked_commit(commit), paths)

    @classify_failures
    def survey(self, project: Path, branch: str, base: str, left: str = "") -> BranchSurvey | None:
        """Return what a branch has that its base has not. Raises Refused, Unavailable."""
        return survey(self._repository(project), project, branch, checked_commit(base), left)

    @classify_failures
    def kept(self, tree: Tree) -> list[KeptWork]:
        """Return where work of earlier tries in this tree was kept, the newest first. Raises Refused, Unavailable."""
        return kept_refs(self._repository(checked_tree(tree).project), tree)

    @classify_failures
    def fingerprint(self, project: Path, without: Path) -> str:
        """Return how a user's own tree stands; empty if nobody can tell. Raises Unavailable."""
        try:
            repository = self._repository(project)
        except Refused:
            found = walked(project, without)
        else:
            found = listed(repository, project, without)
        return "" if found is None else str(found)

    @classify_failures
    def differing(self, project: Path, before: str, now: str) -> tuple[str, ...] | None:
        """Return the files in which a user's own tree differs; None if that is unknown. Raises Refused, Unavailable."""
        old, new = read_listing(before), read_listing(now)
        if old is None or new is None:
            return None
        moved = moved_between(self._repository(project), old.head, new.head) if old.head != new.head else {}
        return differing(old, new, moved)

    @classify_failures
    def remains(self, project: Path, root: Path, branch: str) -> set[str]:
        """Return the names of the trees of a task of which anything is there."""
        return trees_left(self._repository(project), root, branch)

    def _repository(self, project: Path) -> Repository:
        return self._places.repository(project)
