"""What lies in a tree, as a commit: made beside the tree's own index, so that nothing in the tree changes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from orchestrator.workspaces.checkout import Checkout, open_up, sweep
from orchestrator.workspaces.process import Git, GitFailed

_DEEPEST: Final = 20
_SET_ASIDE: Final = ".git-kept"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The tree of all files that git does not ignore, and the index that it was made with."""

    tree: str
    index: Path


def take(checkout: Checkout, index: Path, start: str, *, all_of_it: bool) -> Snapshot:
    """Take all that lies in a tree and is not ignored.

    Args:
        checkout: the tree.
        index: a file of ours to work with; what is there is overwritten.
        start: the commit that the tree began with, for a tree whose own index is lost.
        all_of_it: also take what lies in repositories that somebody made inside the tree, at the price of
            renaming their `.git`; else they are left out, as git itself cannot hold them.

    Raises:
        Unavailable: git cannot do it now.

    """
    try:
        return _take(_with_index(checkout, index, start), checkout.path, index, all_of_it=all_of_it)
    except GitFailed:
        if checkout.folder is None:
            raise
    # Whoever worked there has spoilt git's own files of this tree: read everything, without them.
    lost = replace(checkout, folder=None)
    return _take(_with_index(lost, index, start), checkout.path, index, all_of_it=all_of_it)


def _take(git: Git, path: Path, index: Path, *, all_of_it: bool) -> Snapshot:
    inner = _inner_repositories(git)
    for _ in range(_DEEPEST):
        if not (inner and all_of_it):
            break
        for folder in inner:
            (path / folder / ".git").rename(path / folder / _SET_ASIDE)
        inner = _inner_repositories(git)
    _add_all(git, path, inner)
    return Snapshot(git.ask("write-tree"), index)


def _with_index(checkout: Checkout, index: Path, start: str) -> Git:
    """Return git with `index` in place of the tree's own, a copy of it: unchanged files are not read again."""
    index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
    index.unlink(missing_ok=True)
    if checkout.folder is not None and (checkout.folder / "HEAD").is_file():
        git = checkout.git()
    else:
        variables = {"GIT_DIR": str(checkout.repository.folder), "GIT_WORK_TREE": str(checkout.path)}
        git = replace(checkout.repository.git, cwd=checkout.path, variables=variables)
    git = replace(git, variables={**git.variables, "GIT_INDEX_FILE": str(index)})
    if checkout.folder is not None and (checkout.folder / "index").is_file():
        shutil.copyfile(checkout.folder / "index", index)
    else:
        git.ask("read-tree", start)
    return git


def _inner_repositories(git: Git) -> list[str]:
    """Return the untracked folders that are repositories of their own: git lists them with a slash."""
    said = git.ask("ls-files", "--others", "--exclude-standard", "-z")
    return [name.rstrip("/") for name in said.split("\0") if name.endswith("/")]


def _add_all(git: Git, path: Path, without: Sequence[str]) -> None:
    left_out = [f":(top,exclude,literal){name}" for name in without]
    arguments = ("add", "--all", "--", *left_out)
    try:
        git.ask(*arguments)
    except GitFailed:
        open_up(path)  # files that even their owner may not read
        sweep(path)  # a pipe where a file was
        git.ask(*arguments)
