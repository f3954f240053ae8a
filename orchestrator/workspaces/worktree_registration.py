"""How a tree and its repository know of each other.

A file `.git` in the tree names git's own folder for it, beneath `worktrees` of the repository, and a file `gitdir`
there names that file. Git takes its folder away where it finds the tree gone (`git worktree prune`, and `gc` by itself
after three months): also where that was only out of reach for a while, and work lies in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from orchestrator.hosts.disk import DiskFiles
from orchestrator.ports.files import Unreadable
from orchestrator.workspaces.repository import Repository

_WORD: Final = b"gitdir: "
_LONGEST: Final = 8192  # bytes of such a file that are read


def registered(repository: Repository, path: Path) -> Path | None:
    """Return git's folder for the tree at `path`. Git names it after the path, with a number if taken."""
    link = _link_of(path)
    for folder in sorted((repository.folder / "worktrees").glob(f"{path.name}*")):
        if _read(folder / "gitdir") == link:
            _mend(folder)
            return folder
    return None


def registered_beneath(repository: Repository, root: Path) -> Iterator[Path]:
    """Yield where the trees lie that git knows of in a folder, whether they are there or not."""
    beneath = os.fsencode(root.resolve()) + b"/"
    for folder in (repository.folder / "worktrees").glob("*"):
        link = _read(folder / "gitdir")
        if (
            link.startswith(beneath)
            and link.endswith(b"/.git")
            and link.count(b"/") == beneath.count(b"/") + 1
        ):
            yield root / Path(os.fsdecode(link)).parent.name


def linked(path: Path) -> Path | None:
    """Return git's folder that the tree at `path` names; None if it names none: its own link is gone or another's."""
    said = _read(path / ".git")
    return Path(os.fsdecode(said.removeprefix(_WORD))) if said.startswith(_WORD) else None


def is_mutual(repository: Path, path: Path) -> bool:
    """Tell, without asking git, whether the tree at `path` names a folder of its repository that names it.

    What the tree names elsewhere is not looked at: it may be a file system that never answers.
    """
    folder = linked(path)
    return (
        folder is not None
        and folder.parent == repository / "worktrees"
        and _read(folder / "gitdir") == _link_of(path)
    )


def is_forgotten(repository: Repository, path: Path) -> bool:
    """Tell whether a tree names a folder of its repository that was made for it, and is gone."""
    folder = linked(path)
    return (
        folder is not None
        and folder.parent == repository.folder / "worktrees"
        and re.fullmatch(rf"{re.escape(path.name)}[0-9]*", folder.name) is not None
        and not os.path.lexists(folder / "gitdir")
    )


def restore(path: Path, folder: Path, head: str) -> None:
    """Make git's folder for a forgotten tree again, which then stands on `head`. Cut off, it may be done again.

    `head` is as git writes it: `ref: NAME` or a commit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = DiskFiles()
    files.write(folder / "HEAD", f"{head}\n".encode(), 0o644, durable=False)
    files.write(folder / "commondir", b"../..\n", 0o644, durable=False)
    # The last: from here on git counts it as a tree.
    files.write(folder / "gitdir", _link_of(path) + b"\n", 0o644, durable=False)


def _link_of(path: Path) -> bytes:
    """Return the file `.git` of a tree as git writes it down: its folder is real, the tree itself may be a link."""
    return os.fsencode(path.parent.resolve() / path.name / ".git")


def _read(path: Path) -> bytes:
    """Return what stands in a file of git's, without its line break; nothing if it does not read."""
    try:
        return DiskFiles().read(path, _LONGEST).rstrip(b"\n")
    except (OSError, Unreadable):
        return b""


def _mend(folder: Path) -> None:
    """Write again what git wrote without fsync: empty after a power cut, it stops git in the whole repository."""
    link = folder / "commondir"
    if _read(link) == b"../..":
        return
    DiskFiles().write(link, b"../..\n", 0o644, durable=False)
