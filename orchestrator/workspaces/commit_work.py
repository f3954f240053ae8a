"""The work in a tree as one commit on the task's branch, which other steps may have moved on meanwhile."""

from __future__ import annotations

import contextlib
from typing import Final

from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.worktree import AtOdds, Tree
from orchestrator.workspaces.branches import tip_seen
from orchestrator.workspaces.git_process import GitFailed
from orchestrator.workspaces.lookup import changed_files, commits_gained
from orchestrator.workspaces.repository import Repository, checked_commit
from orchestrator.workspaces.side_files import NOTE_BYTES, base_file

_TOO_OLD: Final = "joining work done side by side needs git 2.38 or newer"
_MARKER: Final = "^(<<<<<<<|>>>>>>>) [0-9a-f]{40}"
"""A conflict marker of ours: git writes the commits that it was given behind it."""


def joined(repository: Repository, tree: Tree, found: str, tip: str, message: str) -> str:
    """Return the commit on `tip` that holds the work in the snapshot `found`; empty if there is none.

    A commit made by an earlier call, cut off before it was told of, is found again and returned.

    Raises:
        AtOdds: the work does not fit to what the task's branch gained since the tree was brought to it.
        Unavailable: git cannot do it now.

    """
    last = repository.commit_of(f"refs/heads/{tree.own_branch}")
    made = repository.git.ask("show", "--no-patch", "--format=%P %T", last) if last else ""
    tip_tree = repository.tree_of(tip)
    if made == f"{tip} {found}" and found != tip_tree:
        return last
    base = base_of(repository, tree, tip)
    wanted = found if base == tip else _joined(repository, found, base, tip, message)
    if wanted == tip_tree:
        return ""
    return last if made == f"{tip} {wanted}" else repository.record(wanted, tip, message)


def tree_upon(repository: Repository, work: str, tip: str) -> str:
    """Return the tree that has both what the commit `work` changed since it left `tip`, and what `tip` has.

    Where both changed the same lines, the files hold both, between conflict markers.

    Raises:
        Refused: the two have nothing in common.
        Unavailable: git cannot do it now.

    """
    base = repository.git.find("merge-base", tip, work)
    if not base:
        raise Refused(f"{work[:12]} has nothing in common with {tip[:12]}")
    if base == tip:
        return repository.tree_of(work)
    tree, _ = _merge_tree(repository, tip, work)
    if not tree:
        raise Unavailable(_TOO_OLD)
    return tree


def left_markers(repository: Repository, before: str, found: str) -> tuple[str, ...]:
    """Return the files that changed between two trees and hold a conflict marker as `tree_upon` writes them."""
    files = changed_files(repository, before, found)
    if not files:
        return ()
    said = repository.git.run(
        "grep",
        "-I",
        "-l",
        "-z",
        "-E",
        _MARKER,
        found,
        "--",
        *(f":(top,literal){name}" for name in files),
        allowed=(0, 1),
    )[1]
    names = said.decode(errors="surrogateescape").split("\0")[:-1]
    return tuple(name.removeprefix(f"{found}:") for name in names)


def base_of(repository: Repository, tree: Tree, tip: str) -> str:
    """Return the commit that the tree was last brought to; where that is not known, where its branch left `tip`."""
    if noted := _noted_base(repository, tree):
        return noted
    last = repository.commit_of(f"refs/heads/{tree.own_branch}")
    return repository.git.find("merge-base", tip, last or tip) or tip


def base_seen(repository: Repository, tree: Tree) -> str:
    """Return the same for who only looks: the tip of the task's branch is asked for only where nothing is noted."""
    return _noted_base(repository, tree) or base_of(repository, tree, tip_seen(repository, tree))


def _noted_base(repository: Repository, tree: Tree) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError, Refused):
        noted = DiskFiles().read(base_file(tree), NOTE_BYTES).decode().strip()
        return repository.commit_of(checked_commit(noted))
    return ""


def _joined(repository: Repository, found: str, base: str, tip: str, message: str) -> str:
    """Return the tree that has both what `found` changed since `base` and what `tip` did. Raises AtOdds."""
    if found == repository.tree_of(base):
        return repository.tree_of(tip)
    ours = repository.record(found, base, message)
    merged, conflicts = merged_tree(repository, tip, ours)
    if conflicts:
        raise AtOdds(conflicts, commits_gained(repository, base, tip, conflicts), ours)
    if not merged:
        raise Unavailable(_TOO_OLD)
    return merged


def merged_tree(repository: Repository, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    """Return the tree that has what both commits changed, or no tree and the files where they are at odds.

    Neither, where this git (before 2.38) cannot tell without a tree to work in. Raises Unavailable.
    """
    tree, conflicts = _merge_tree(repository, ours, theirs)
    return ("" if conflicts else tree), conflicts


def _merge_tree(repository: Repository, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    """Return the tree of both commits, with conflict markers in the files named; no tree if this git cannot tell."""
    try:
        status, said = repository.git.run(
            "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs, allowed=(0, 1)
        )
    except GitFailed as error:
        if "usage:" in error.said or "--write-tree" in error.said:
            return "", ()
        raise
    tree, *names = said.decode(errors="surrogateescape").rstrip("\0").split("\0")
    return tree, () if status == 0 else tuple(names)
