"""The work in a tree as one commit on the task's branch, which other steps may have moved on meanwhile."""

from __future__ import annotations

import contextlib

from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.workspaces import Tree
from orchestrator.workspaces.git_process import GitFailed
from orchestrator.workspaces.repository import Repository, checked_commit
from orchestrator.workspaces.side_files import NOTE_BYTES, base_file


def joined(repository: Repository, tree: Tree, found: str, tip: str, message: str) -> str:
    """Return the commit on `tip` that holds the work in the snapshot `found`; empty if there is none.

    A commit made by an earlier call, cut off before it was told of, is found again and returned.

    Raises:
        Refused: the work is at odds with what the task's branch gained since the tree was brought to it.
        Unavailable: git cannot do it now.

    """
    last = repository.commit_of(f"refs/heads/{tree.own_branch}")
    made = repository.git.ask("show", "--no-patch", "--format=%P %T", last) if last else ""
    tip_tree = repository.tree_of(tip)
    if made == f"{tip} {found}" and found != tip_tree:
        return last
    base = base_of(repository, tree, tip)
    wanted = found if base == tip else _merged(repository, found, base, tip)
    if wanted == tip_tree:
        return ""
    return last if made == f"{tip} {wanted}" else repository.record(wanted, tip, message)


def tree_upon(repository: Repository, work: str, tip: str) -> str:
    """Return the tree that has both what the commit `work` changed since it left `tip`, and what `tip` has.

    Raises:
        Refused: the two are at odds.
        Unavailable: git cannot do it now.

    """
    base = repository.git.find("merge-base", tip, work)
    if not base:
        raise Refused(f"{work[:12]} has nothing in common with {tip[:12]}")
    if base == tip:
        return repository.tree_of(work)
    return _merged(repository, repository.tree_of(work), base, tip)


def base_of(repository: Repository, tree: Tree, tip: str) -> str:
    """Return the commit that the tree was last brought to; where that is not known, where its branch left `tip`."""
    with contextlib.suppress(OSError, UnicodeDecodeError, Refused):
        noted = DiskFiles().read(base_file(tree), NOTE_BYTES).decode().strip()
        if base := repository.commit_of(checked_commit(noted)):
            return base
    last = repository.commit_of(f"refs/heads/{tree.own_branch}")
    return repository.git.find("merge-base", tip, last or tip) or tip


def _merged(repository: Repository, found: str, base: str, tip: str) -> str:
    """Return the tree that has both what `found` changed since `base` and what `tip` did."""
    if found == repository.tree_of(base):
        return repository.tree_of(tip)
    ours = repository.record(found, base, "Work of a step")
    merged, conflicts = merged_tree(repository, tip, ours)
    if conflicts:
        shown = ", ".join(f"{name!a}" for name in conflicts[:10])
        raise Refused(f"the work is at odds with what {tip[:12]} brought meanwhile, in {shown}")
    if not merged:
        raise Unavailable("joining work done side by side needs git 2.38 or newer")
    return merged


def merged_tree(repository: Repository, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    """Return the tree that has what both commits changed, or no tree and the files where they are at odds.

    Neither, where this git (before 2.38) cannot tell without a tree to work in. Raises Unavailable.
    """
    try:
        status, said = repository.git.run(
            "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs, allowed=(0, 1)
        )
    except GitFailed as error:
        if "usage:" in error.said or "--write-tree" in error.said:
            return "", ()
        raise
    tree, *names = said.decode(errors="surrogateescape").rstrip("\0").split("\0")
    return (tree, ()) if status == 0 else ("", tuple(names))
