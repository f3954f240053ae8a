"""The lives of a tree: each in a folder of its own, so that nothing which an earlier one left behind writes into it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from orchestrator.model.errors import Unavailable
from orchestrator.ports.worktree import Tree
from orchestrator.workspaces.checkout import Checkout
from orchestrator.workspaces.preservation import keep
from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.side_files import name_in
from orchestrator.workspaces.worktree_registration import registered_beneath


def lives_of(repository: Repository, tree: Tree) -> Iterator[Path]:
    """Yield where the lives of a tree lie: those that are there, and those that git knows of."""
    there = set(tree.root.iterdir()) if tree.root.is_dir() else set[Path]()
    for path in sorted(there | set(registered_beneath(repository, tree.root))):
        if tree.is_life(path.name):
            yield path


def last_life(tree: Tree) -> Tree:
    """Return a tree in the last of its lives that lies there; its first if none does."""
    there = tree.root.iterdir() if tree.root.is_dir() else iter(())
    lives = [path.name.partition(".")[2] for path in there if tree.is_life(path.name)]
    return replace(tree, life=max((int(life or 1) for life in lives), default=1))


def leave_earlier_lives(repository: Repository, tree: Tree, attempt: int, tip: str) -> None:
    """Keep what lies in the other lives of a tree, then remove them; what cannot be removed now goes with the tree.

    Raises:
        Unavailable: git cannot keep it now.

    """
    for path in lives_of(repository, tree):
        if path != tree.path:
            checkout = Checkout.at(repository, path)
            keep(checkout, tree, attempt, tip, "")
            with contextlib.suppress(Unavailable):
                checkout.remove()


def trees_left(repository: Repository, root: Path, branch: str) -> set[str]:
    """Return the names of the trees of a task of which anything is there: a folder, a note, a branch of its own."""
    own = f"refs/heads/{branch.replace('task/', 'task-work/', 1)}/"
    refs = repository.git.ask("for-each-ref", "--format=%(refname)", own).splitlines()
    there = [path.name for path in root.iterdir()] if root.is_dir() else []
    return {ref.removeprefix(own) for ref in refs} | ({name_in(each) for each in there} - {""})
