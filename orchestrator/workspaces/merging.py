"""What it would be to merge a task's branch into the user's: computed, and nothing is touched."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from orchestrator.model.errors import Unavailable
from orchestrator.workspaces.commit_work import merged_tree

if TYPE_CHECKING:
    from orchestrator.workspaces.repository import Repository
    from orchestrator.workspaces.user_tree import UserTree


class Way(Enum):
    """How a commit comes onto a branch."""

    THERE = "is there already"
    FORWARD = "fast-forward"
    COMMIT = "merge commit"


@dataclass(frozen=True, slots=True)
class Merging:
    """A merge of `tip` into what the user's tree has checked out.

    `commits` is how many the branch gains, a merge commit aside; `result` the tree that comes of it, empty where
    that could not be worked out; `conflicts` the files that both sides changed in one place; `in_the_way` those of
    the user's that are not committed and would be overwritten.
    """

    way: Way
    tip: str
    commits: int = 0
    result: str = ""
    conflicts: tuple[str, ...] = ()
    in_the_way: tuple[str, ...] = ()


def foreseen(repository: Repository, own: UserTree, tip: str, *, forward: bool) -> Merging:
    """Return what merging a commit would do. Without `forward` there is a merge commit even where none is needed.

    Raises:
        Unavailable: git cannot do it now.

    """
    if repository.is_ancestor(tip, own.head):
        return Merging(Way.THERE, tip)
    commits = int(own.git.ask("rev-list", "--count", f"{own.head}..{tip}"))
    if repository.is_ancestor(own.head, tip):
        way = Way.FORWARD if forward else Way.COMMIT
        return Merging(way, tip, commits, tip, (), tuple(own.in_the_way(own.head, tip)))
    tree, conflicts = merged_tree(repository, own.head, tip)
    if conflicts or not tree:
        return Merging(Way.COMMIT, tip, commits, "", conflicts)
    in_the_way = {*own.in_the_way(own.head, tree), *own.staged()}  # git merges onto no index that differs
    return Merging(Way.COMMIT, tip, commits, tree, (), tuple(sorted(in_the_way)))


def is_result(repository: Repository, commit: str, before: str, tip: str) -> bool:
    """Tell whether a commit is what merging `tip` onto `before` makes: `tip` itself, or a commit of just these two."""
    if commit == tip:
        return repository.is_ancestor(before, tip)
    try:
        parents = repository.git.ask("show", "--no-patch", "--format=%P", commit)
    except Unavailable:
        return False
    return parents == f"{before} {tip}"
