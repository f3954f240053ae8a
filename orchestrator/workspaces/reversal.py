"""A commit that reverses an earlier one, if its files were not changed since: objects only, no ref is touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.model.errors import Unavailable
from orchestrator.workspaces.commit_work import merged_tree
from orchestrator.workspaces.lookup import changed_files

if TYPE_CHECKING:
    from orchestrator.workspaces.repository import Repository


@dataclass(frozen=True, slots=True)
class Reversal:
    """The commit that puts `files` back as they were; or none, because `changed` of them were changed since."""

    commit: str
    files: tuple[str, ...]
    changed: tuple[str, ...] = ()


def reversal(repository: Repository, commit: str, onto: str, message: str) -> Reversal:
    """Return a commit upon `onto` that has the files which `commit` changed as they were before it.

    Raises:
        Unavailable: git cannot do it now, or is older than 2.38.

    """
    before = repository.git.ask("rev-parse", "--verify", f"{commit}^")
    files = changed_files(repository, before, commit)
    since = set(changed_files(repository, commit, onto))
    if changed := tuple(name for name in files if name in since):
        return Reversal("", files, changed)
    # Both on top of the commit that is reversed: git then joins what each side has changed from there on.
    ours = repository.record(repository.tree_of(onto), commit, "What came after it")
    theirs = repository.record(repository.tree_of(before), commit, "What was before it")
    tree, conflicts = merged_tree(repository, ours, theirs)
    if conflicts:  # as where a file was deleted, and a folder has its name by now
        return Reversal("", files, conflicts)
    if not tree:
        raise Unavailable("to reverse a commit git 2.38 or newer is needed")
    return Reversal(repository.record(tree, onto, message), files)
