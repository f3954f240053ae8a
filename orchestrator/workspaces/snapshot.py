"""What lies in a tree, as a commit: made beside the tree's own index, so that nothing in the tree changes."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from orchestrator import plain_files
from orchestrator.formats.tree_listing import LITTER, is_litter
from orchestrator.ports.workspaces import LeftOut
from orchestrator.workspaces.checkout import Checkout, open_up, sweep
from orchestrator.workspaces.git_process import Git, GitFailed

LARGEST_INDEX: Final = 1 << 30
"""Bytes of the largest index that is copied: of a million files it has about a tenth of that."""

_DEEPEST: Final = 20
_SET_ASIDE: Final = ".git-kept"
_WITHOUT_LITTER: Final = tuple(f"--exclude={pattern}" for pattern in LITTER)
"""Litter is nobody's work. What the user has committed of it stays, as it is in their branch."""

_LINK: Final = "160000"  # the mode of a submodule


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
        start: the commit that the tree was brought to.
        all_of_it: also take what lies in repositories that somebody made inside the tree, at the price of
            renaming their `.git`; else they are left out, as git itself cannot hold them.

    Raises:
        Unavailable: git cannot do it now.

    """
    opened_since = start if all_of_it else ""
    try:
        return _take(_with_index(checkout, index, start), checkout.path, index, start, opened_since)
    except GitFailed:
        if checkout.folder is None or not (all_of_it or _is_whole(checkout)):
            raise
    # Whoever worked there has spoilt git's own files of this tree: read everything, without them.
    lost = replace(checkout, folder=None)
    return _take(_with_index(lost, index, start), checkout.path, index, start, opened_since)


def seen(checkout: Checkout, index: Path, start: str) -> str:
    """Return the tree of all that lies in a worktree and is not ignored, for somebody who only looks.

    Nothing there is changed. What cannot be read, and repositories inside the tree, make it fail or are left out.

    Args:
        checkout: the tree.
        index: a file to work with; what is there is overwritten.
        start: the commit that the tree was brought to.

    Raises:
        Unavailable: git cannot do it now.

    """
    git = _with_index(checkout, index, start)
    _add(git, [name for name in _untracked(git) if not name.endswith("/")])
    return git.ask("write-tree")


def left_out(checkout: Checkout, index: Path, start: str) -> LeftOut:
    """Return what lies in a tree and is in no snapshot of it. Nothing there is changed.

    Args:
        checkout: the tree.
        index: a file to work with; what is there is overwritten.
        start: the commit that the tree was brought to.

    Raises:
        Unavailable: git cannot do it now.

    """
    git = _with_index(checkout, index, start)
    _forget(git, _without_origin(git, start))
    ignored = _names(git.ask("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"))
    entries = (entry.split("\t", 1) for entry in _names(git.ask("ls-files", "--stage", "-z")))
    links = [name for kind, name in entries if kind.startswith(_LINK)]
    there = [name for name in links if os.path.lexists(checkout.path / name / ".git")]
    # Git looks into no folder of a submodule, and so ignores files there although nothing is checked out.
    unseen = [f"{name}/" for name in links if name not in there and _has_entries(checkout.path / name)]
    return LeftOut(
        ignored=tuple(sorted([*unseen, *(name for name in ignored if not is_litter(name))])),
        repositories=tuple(sorted(name for name in _untracked(git) if name.endswith("/"))),
        submodules=tuple(there),
    )


def _has_entries(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def lay(checkout: Checkout, snapshot: Snapshot, wanted: str) -> None:
    """Let a tree that lies as in a snapshot lie as in another tree of git's; its own index stays as it is.

    Raises:
        Unavailable: git cannot do it now, as after a change since the snapshot.

    """
    git = checkout.git()
    git = replace(git, variables={**git.variables, "GIT_INDEX_FILE": str(snapshot.index)})
    git.ask("read-tree", "-m", "-u", snapshot.tree, wanted)


def _is_whole(checkout: Checkout) -> bool:
    """Tell whether a tree has all files of its commit: of a sparse one only its own index knows which it lacks."""
    return checkout.repository.git.find("config", "--bool", "core.sparseCheckout") != "true"


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
    if checkout.folder is None or not _is_copied(checkout.folder / "index", index):
        git.ask("read-tree", start)
    return git


def _is_copied(theirs: Path, ours: Path) -> bool:
    """Copy the index of a tree, if it is one, and return whether that was done.

    With its time: a file as young as the index may have changed without looking so, and git compares it.
    """
    try:
        with open(plain_files.opened(theirs, os.O_NOFOLLOW), "rb") as source:  # noqa: PTH123 (it is open)
            found = os.fstat(source.fileno())
            if found.st_size > LARGEST_INDEX:
                return False
            with ours.open("xb") as copy:
                shutil.copyfileobj(source, copy)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        if error.errno in {errno.EINVAL, errno.ELOOP}:  # something else is in its place
            return False
        raise
    os.utime(ours, ns=(found.st_atime_ns, found.st_mtime_ns))
    return True


def _take(git: Git, path: Path, index: Path, start: str, opened_since: str) -> Snapshot:
    """Take a snapshot of a tree brought to `start`; repositories made since `opened_since`, if given, are opened."""
    _forget(git, _new_links(git, opened_since) if opened_since else _without_origin(git, start))
    new = _untracked(git)
    for _ in range(_DEEPEST if opened_since else 0):
        inner = [name for name in new if name.endswith("/")]
        if not inner:
            break
        for name in inner:
            (path / name / ".git").rename(path / name / _SET_ASIDE)
        new = _untracked(git)
    new = [name for name in new if not name.endswith("/")]
    try:
        _add(git, new)
    except GitFailed:
        open_up(path)  # files that even their owner may not read
        sweep(path)  # a pipe where a file was
        _add(git, new)
    _forget(git, _committed_litter(git, start))
    return Snapshot(git.ask("write-tree"), index)


def _committed_litter(git: Git, start: str) -> list[str]:
    """Return the litter that whoever worked there has added to the index or committed, and that `start` has not."""
    litter = _names(git.ask("ls-files", "--cached", "--ignored", *_WITHOUT_LITTER, "-z"))
    if not litter:
        return []
    new = git.ask("diff-index", "--cached", "--name-only", "--no-renames", "--diff-filter=A", "-z", start)
    return sorted(set(litter).intersection(_names(new)))


def _untracked(git: Git) -> list[str]:
    """Return the files that are new, but for litter. A repository of its own is not looked into: it ends in a slash."""
    return _names(git.ask("ls-files", "--others", "--exclude-standard", *_WITHOUT_LITTER, "-z"))


def _new_links(git: Git, start: str) -> list[str]:
    """Return the repositories inside the tree that whoever worked there has staged as links."""
    said = _names(git.ask("diff-index", "--cached", "--raw", "--no-renames", "-z", start))
    changes = zip(said[::2], said[1::2], strict=True)
    return [name for change, name in changes if change.split(" ")[1] == _LINK and change[1:7] != _LINK]


def _without_origin(git: Git, start: str) -> list[str]:
    """Return the new links that name no origin in `.gitmodules`: nobody else can ever get what they point to.

    `git add --all` makes one of each repository inside the tree.
    """
    links = _new_links(git, start)
    if not links:
        return []
    if not git.ask("ls-files", "--", ".gitmodules"):
        return links
    said = git.find("config", "--blob", ":.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    known = {entry.split("\n", 1)[-1] for entry in said.split("\0")}
    return [name for name in links if name not in known]


def _add(git: Git, new: Sequence[str]) -> None:
    """Put into the index what changed, but for submodules.

    Not by `git add`, which asks git in each of them, and so runs the programs that their configuration names.
    """
    said = _names(git.ask("diff-files", "--name-status", "--ignore-submodules=all", "--no-renames", "-z"))
    changes = list(zip(said[::2], said[1::2], strict=True))
    _forget(git, [name for status, name in changes if status == "D"])
    changed = [name for status, name in changes if status != "D"]
    if changed or new:
        names = _listed([*changed, *new])
        git.ask("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=names)


def _forget(git: Git, names: Sequence[str]) -> None:
    if names:
        git.ask("update-index", "--force-remove", "-z", "--stdin", stdin=_listed(names))


def _names(said: str) -> list[str]:
    return said.split("\0")[:-1]


def _listed(names: Sequence[str]) -> bytes:
    return "".join(f"{name}\0" for name in names).encode(errors="surrogateescape")
