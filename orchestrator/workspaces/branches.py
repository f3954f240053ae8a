"""The task's branch and the own branches of its trees: where they are, and who may move them."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.worktree import Tree
from orchestrator.workspaces.git_process import GitFailed
from orchestrator.workspaces.repository import Moved, Repository, checked_commit

_TRIES: Final = 5


def tip_of(repository: Repository, branch: str) -> str:
    """Return the commit that a branch is at. Raises Refused if there is no such branch."""
    if tip := repository.commit_of(f"refs/heads/{branch}"):
        return tip
    raise Refused(f"there is no branch {branch}")


def task_tip(repository: Repository, tree: Tree) -> str:
    """Return the commit that the task's branch is at; it is made from `base` if missing."""
    ref = f"refs/heads/{tree.branch}"
    if tip := repository.commit_of(ref):
        return tip
    base = repository.commit_of(checked_commit(tree.base))
    if not base:
        raise Refused(f"the repository of {tree.project} has no commit {tree.base}")
    try:
        repository.move(ref, base, "", "task started")
    except Moved:
        return repository.commit_of(ref)
    except GitFailed as error:
        if "cannot lock ref" in error.said and "exists; cannot create" in error.said:
            raise Refused(f"{tree.branch} cannot be made beside the branch `task`: rename that") from error
        raise
    return base


def tip_to_begin_at(repository: Repository, tree: Tree) -> str:
    """Return the commit at which work in a tree begins: the tip of the task's branch, but never behind `base`.

    Somebody may have set the branch back. It is moved up, unless they have it checked out: then work begins where it
    would be all the same.
    """
    tip, base = task_tip(repository, tree), checked_commit(tree.base)
    if tip == base or not repository.commit_of(base) or not repository.is_ancestor(tip, base):
        return tip
    if not repository.user_of(tree.branch):
        with contextlib.suppress(Moved):
            repository.move(f"refs/heads/{tree.branch}", base, tip, "back to what was accepted")
    return base


def tip_seen(repository: Repository, tree: Tree) -> str:
    """Return the commit that the task's branch is at, or began at if it is gone: who only looks makes none."""
    return repository.commit_of(f"refs/heads/{tree.branch}") or checked_commit(tree.base)


def refuse_if_used(repository: Repository, tree: Tree, branch: str) -> None:
    """The tree's own branch is ours to move, unless somebody looks at it in a tree of theirs."""
    user = Path(repository.user_of(branch)) if branch else Path()
    ours = user.parent.resolve() == tree.root.resolve() and tree.is_life(user.name)
    if user.name and not ours:
        raise Unavailable(f"{branch} is checked out in {user}: switch to another branch there")


def move_branch(repository: Repository, branch: str, commit: str, why: str) -> None:
    """Move a branch to a commit, wherever it is now."""
    ref = f"refs/heads/{branch}"
    old = repository.commit_of(ref)
    if old != commit:
        repository.move(ref, commit, old, why)


def tip_in_the_way(repository: Repository, branch: str, commit: str, *, alone: bool) -> str:
    """Return the tip of a branch that cannot be moved forward to a commit; empty if it can. Raises Refused."""
    if not repository.commit_of(checked_commit(commit)):
        raise Refused(f"there is no commit {commit}")
    tip = tip_of(repository, branch)
    forward = repository.parents_of(commit) == [tip] if alone else repository.is_ancestor(tip, commit)
    return "" if forward or repository.is_ancestor(commit, tip) else tip


def merge_forward(repository: Repository, branch: str, commit: str, *, alone: bool) -> str:
    """Move the task's branch forward to `commit`; return why that cannot be, or nothing."""
    for _ in range(_TRIES):
        tip = repository.commit_of(f"refs/heads/{branch}")
        if not tip:
            return f"there is no branch {branch}"
        if repository.is_ancestor(commit, tip):
            return ""
        if not repository.is_ancestor(tip, commit):
            return f"{branch} has gained {tip[:12]}, which {commit[:12]} does not build on"
        if alone and repository.parents_of(commit) != [tip]:
            return f"{commit[:12]} builds on commits that are no part of {branch}, beyond {tip[:12]}"
        if user := repository.user_of(branch):
            return f"{branch} is checked out in {user}: switch to another branch there"
        with contextlib.suppress(Moved):
            repository.move(f"refs/heads/{branch}", commit, tip, "a step passed")
            return ""
    return f"{branch} is being moved by somebody else"
