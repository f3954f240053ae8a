"""Work is never lost: what lies in a tree that is to be cleaned or removed is put on a ref first (law 11)."""

from __future__ import annotations

import contextlib
import os

from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Unavailable
from orchestrator.ports.files import Unreadable
from orchestrator.ports.workspaces import KeptWork
from orchestrator.ports.worktree import Tree
from orchestrator.workspaces.checkout import Checkout
from orchestrator.workspaces.commit_work import base_of
from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.side_files import index_file
from orchestrator.workspaces.snapshot import take


def keep(checkout: Checkout, tree: Tree, attempt: int, tip: str, moving: str, own: str | None = None) -> str:
    """Put on refs what would be lost: changed files, and commits that are on no branch that stays.

    Returns the ref that holds what lies in the tree, or nothing if that need not be kept.

    Args:
        checkout: what lies at the tree's path.
        tree: the tree.
        attempt: the number that the refs begin with.
        tip: the commit of the task's branch.
        moving: the branch that is about to be moved, empty if all stay where they are.
        own: the commit of the tree's own branch, if it was looked up already; empty if it has none.

    Raises:
        Unavailable: git cannot do it now; then nothing may be cleaned.

    """
    repository = checkout.repository
    if own is None:
        own = repository.commit_of(f"refs/heads/{tree.own_branch}")
    stays = [commit for commit in (tip, "" if moving else own) if commit]
    work = _work(checkout, tree, attempt, tip)
    refs = dict[str, str]()
    for commit in dict.fromkeys([work, own if moving else ""]):
        if commit and not any(repository.is_ancestor(commit, other) for other in stays):
            refs[commit] = _put_on_ref(repository, tree, attempt, commit)
            stays.append(commit)
    return refs.get(work, "")


def _work(checkout: Checkout, tree: Tree, attempt: int, tip: str) -> str:
    """Return a commit that holds all that lies in the tree; empty if nothing can."""
    if not checkout.there or checkout.unfinished or not any(checkout.path.iterdir()):
        return ""
    repository = checkout.repository
    base = base_of(repository, tree, tip)
    head = _head_of(checkout) or base
    found = take(checkout, index_file(tree), base, all_of_it=True).tree
    if found == repository.tree_of(head):
        return head
    for line in _refs(repository, tree, "%(tree) %(parent) %(objectname)"):
        if line.startswith(f"{found} {head} "):
            return line.rpartition(" ")[2]
    return repository.record(found, head, f"Work found in {tree.name} after attempt {attempt}")


def _head_of(checkout: Checkout) -> str:
    """Return the commit that the tree stands on; empty if whoever worked there left it standing on none."""
    with contextlib.suppress(Unavailable):
        return checkout.head()
    return ""


def _put_on_ref(repository: Repository, tree: Tree, attempt: int, commit: str) -> str:
    """Return the ref of ours that holds a commit, after making one if there is none."""
    refs = [line.partition(" ")[::2] for line in _refs(repository, tree, "%(objectname) %(refname)")]
    for kept, ref in refs:
        if kept == commit:
            return ref
    taken = {ref for _, ref in refs}
    number = 1
    while (ref := f"{tree.keep_prefix}{attempt}-{number}") in taken:
        number += 1
    repository.move(ref, commit, "", "kept")
    return ref


def kept_refs(repository: Repository, tree: Tree) -> list[KeptWork]:
    """Return the refs that keep work of earlier tries in a tree, the newest first."""
    listed = _refs(repository, tree, "%(committerdate:unix) %(refname)")
    found = [KeptWork(ref, float(at)) for at, ref in (line.split(" ", 1) for line in listed)]
    return sorted(found, key=lambda each: (each.at, each.ref), reverse=True)


def _refs(repository: Repository, tree: Tree, shape: str) -> list[str]:
    if not _may_have_refs(repository, tree.keep_prefix):
        return []
    return repository.git.ask("for-each-ref", f"--format={shape}", tree.keep_prefix).splitlines()


def _may_have_refs(repository: Repository, prefix: str) -> bool:
    """Return whether there may be refs of this prefix, without asking git: most trees have none, at each launch."""
    folder, files = repository.folder, DiskFiles()
    if (folder / "reftable").exists() or (folder / prefix).exists():
        return True
    if files.entry(folder / "packed-refs") is None:
        return False
    try:
        return os.fsencode(prefix) in files.read(folder / "packed-refs")
    except (OSError, Unreadable):
        return True
