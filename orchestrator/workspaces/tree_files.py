"""What lies in a tree: brought to a commit, made again, and settled after its work was committed."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from orchestrator import plain_files
from orchestrator.model.errors import Refused
from orchestrator.ports.worktree import Tree, TreeLost
from orchestrator.workspaces.branches import task_tip
from orchestrator.workspaces.checkout import Checkout
from orchestrator.workspaces.commit_work import base_of, tree_upon
from orchestrator.workspaces.git_process import GitFailed
from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.snapshot import Snapshot


def checkout_of(repository: Repository, tree: Tree) -> Checkout:
    """Look what is at the path of a tree, and put back what git has forgotten of it."""
    checkout = Checkout.at(repository, tree.path)
    if checkout.folder is not None or not checkout.there:
        return checkout
    branch = "" if tree.detached else tree.own_branch
    return checkout.remembered(branch, base_of(repository, tree, task_tip(repository, tree)))


def make_again(repository: Repository, checkout: Checkout, tree: Tree) -> None:
    """Make a tree again that is gone, if a commit holds what it held. Raises TreeLost."""
    tip = task_tip(repository, tree)
    if tree.detached:
        checkout.make(tip, "")
        return
    made = repository.commit_of(f"refs/heads/{tree.own_branch}")
    if not made or made == base_of(repository, tree, tip):
        raise TreeLost(f"{tree.path} is gone: the work that lay there is not to be had")
    checkout.make(made, tree.own_branch)


def committed_before(
    repository: Repository, tree: Tree, tip: str, lost: str, kept: str = ""
) -> tuple[str, int]:
    """Return the commit that an earlier call, cut off, had made of the tree; raise TreeLost if there is none."""
    made = repository.commit_of(f"refs/heads/{tree.own_branch}")
    if made and made != tip and repository.commit_of(f"{made}^") == tip:
        return made, differing_files(repository, tip, made)
    raise TreeLost(lost, kept)


def bring(checkout: Checkout, tip: str, branch: str) -> None:
    """Bring a tree to `tip`, clean; one that will not go there is made anew."""
    if checkout.sound:
        with contextlib.suppress(GitFailed):
            checkout.stand(tip, branch)
            checkout.clean(tip)
            return
    checkout.make(tip, branch)


def lay_upon(checkout: Checkout, tip: str, work: str) -> None:
    """Let what a commit of an earlier attempt changed lie in a clean tree, uncommitted.

    The task's branch may have moved on since: where both changed the same lines, conflict markers show both sides.
    """
    repository = checkout.repository
    if not repository.commit_of(work):
        return
    with contextlib.suppress(Refused):
        wanted = tree_upon(repository, work, tip)
        git = checkout.git()
        git.ask("read-tree", "-m", "-u", repository.tree_of(tip), wanted)
        git.ask("read-tree", tip)  # in the files, and not staged: as if it had just been written


def settle(checkout: Checkout, snapshot: Snapshot, commit: str, branch: str) -> None:
    """Let the tree stand on its commit. Files change only where the task's branch had gained something.

    Raises:
        Unavailable: such a file was changed since the snapshot; the next call takes that in.

    """
    if checkout.folder is None:  # it was whole, and in the place of the one that was made
        checkout.make(commit, branch)
        return
    checkout.stand(commit, branch)
    index = checkout.git_folder / "index"
    copy = index.with_name("index.ours")  # ours may lie on another file system than the project
    copy.unlink(missing_ok=True)  # whoever worked there may have laid a link
    with open(plain_files.opened(snapshot.index), "rb") as ours, copy.open("xb") as theirs:  # noqa: PTH123 (it is open)
        shutil.copyfileobj(ours, theirs)
    copy.replace(index)
    if checkout.repository.tree_of(commit) != snapshot.tree:
        checkout.git().ask("read-tree", "-m", "-u", snapshot.tree, commit)


def missing_files(repository: Repository, base: str, found: str) -> list[str]:
    """Return the files of a commit that a tree of git's lacks."""
    names = repository.git.ask(
        "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=D", base, found
    )
    return names.split("\0")[:-1]


def replaced(tree: Tree, missing: list[str]) -> str:
    """Return what to say of a folder in the place of a tree, which lacks files."""
    named = ", ".join(f"{name!a}" for name in missing[:3]) + (", …" if len(missing) > 3 else "")  # noqa: PLR2004
    return (
        f"another folder is in the place of {tree.path}, and lacks {len(missing)} files that nobody may have deleted "
        f"({named})"
    )


def differing_files(repository: Repository, tip: str, commit: str) -> int:
    """Return in how many files two commits differ."""
    names = repository.git.ask("diff-tree", "-r", "-z", "--name-only", "--no-renames", tip, commit)
    return names.count("\0")


def project_folder(repository: Repository, path: Path) -> Path:
    """Return the project's folder in a tree; the tree itself if the project is not in the commit."""
    inside = path / repository.prefix if repository.prefix else path
    return inside if inside.is_dir() and inside.resolve() == path.resolve() / repository.prefix else path
