"""Work that was committed elsewhere, on a box, in the tree of its step here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.errors import Refused
from orchestrator.workspaces.branches import move_branch, refuse_if_used, task_tip
from orchestrator.workspaces.preservation import keep
from orchestrator.workspaces.repository import checked_commit
from orchestrator.workspaces.side_files import note_base
from orchestrator.workspaces.tree_files import bring, checkout_of, differing_files

if TYPE_CHECKING:
    from orchestrator.ports.worktree import Tree
    from orchestrator.workspaces.repository import Repository


def adopted(repository: Repository, tree: Tree, attempt: int, commit: str) -> tuple[str, int] | None:
    """Let a tree stand on a commit made elsewhere, upon what the task's branch has or had.

    Returns the commit and the number of files in which it differs from where it left the branch; None if the branch has
    it already: then nothing was done.

    Raises:
        Refused: there is no such commit, it has nothing in common with the branch, or the tree has no branch.
        Unavailable: git cannot do it now.

    """
    if tree.detached or not repository.commit_of(checked_commit(commit)):
        raise Refused(f"{tree.name} cannot stand on {commit}: there is no such commit, or no branch for it")
    checkout = checkout_of(repository, tree)
    tip, branch = task_tip(repository, tree), tree.own_branch
    if repository.is_ancestor(commit, tip):
        return None
    fork = repository.git.find("merge-base", tip, commit)
    if not fork:
        raise Refused(f"{commit[:12]} has nothing in common with {tip[:12]}, at which {tree.branch} is")
    refuse_if_used(repository, tree, branch)
    keep(checkout, tree, attempt, commit, branch)
    move_branch(repository, branch, commit, "work brought from elsewhere")
    bring(checkout, commit, branch)
    note_base(tree, fork)
    return commit, differing_files(repository, fork, commit)
