"""How a user's own tree stands, by content: two listings tell what was changed between them. Nothing is changed there.

Files are read up to a bound. Beyond it, size, time and inode tell whether a file was changed: then one that was only
touched counts as changed.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from orchestrator import plain_files
from orchestrator.formats.tree_listing import (
    GONE,
    LARGEST,
    MOST,
    TreeListing,
    is_litter,
    link_word,
    raw_changes,
    word_of,
)
from orchestrator.workspaces.git_process import Git, GitFailed
from orchestrator.workspaces.repository import Repository

READ_AT_MOST: Final = 256 * 1_048_576
"""Bytes that are read of all files together."""

_DEEPEST: Final = 3
"""How many repositories within repositories are looked into."""


@dataclass(slots=True)
class _Reader:
    """Reads files for their words. `left` is how many bytes it may still read."""

    top: Path
    name_length: int
    left: int = READ_AT_MOST

    def word(self, name: str) -> str:
        path = self.top / name
        try:
            found = path.lstat()
            if stat.S_ISLNK(found.st_mode):
                return link_word(os.fsencode(path.readlink()), self.name_length)
            if not stat.S_ISREG(found.st_mode):
                return f"kind {stat.S_IFMT(found.st_mode)}"
            if found.st_size > min(LARGEST, self.left):
                return f"large {found.st_size} {found.st_mtime_ns} {found.st_ino} {found.st_mode}"
            self.left -= found.st_size
            return word_of(found.st_mode, plain_files.read(path, found.st_size), self.name_length)
        except FileNotFoundError:
            return GONE
        except (OSError, ValueError) as error:
            return f"unreadable {type(error).__name__}"


def listed(repository: Repository, project: Path, without: Path, depth: int = 0) -> TreeListing | None:
    """Return how the tree that `project` lies in stands; None if too many files differ from its commit.

    What git ignores does not count, nor does litter, nor what lies in the folder `without`.

    Raises:
        Unavailable: git cannot do it now.

    """
    git = replace(repository.git, cwd=project, variables={})
    top = Path(git.ask("rev-parse", "--show-toplevel"))
    if depth and top.resolve() != project.resolve():
        return None
    git = replace(git, cwd=top)
    head = git.find("rev-parse", "--verify", "--quiet", "HEAD^{tree}") or _no_files(git)
    raw = git.ask("diff-index", "-z", "--raw", "--no-renames", "--ignore-submodules=all", head)
    known = {name: was for name, (was, _) in raw_changes(raw).items()}
    others = git.ask("ls-files", "-z", "--others", "--exclude-standard").split("\0")[:-1]
    empty = TreeListing(head, without=str(without.relative_to(top)) if without.is_relative_to(top) else "")
    names = [name for name in sorted({*known, *others}) if empty.has_place_for(name)]
    if len(names) > MOST:
        return None
    reader = _Reader(top, len(head))
    words = {
        name: _inner(repository, top / name, depth) if name.endswith("/") else reader.word(name)
        for name in names
    }
    return replace(empty, files={name: word for name, word in words.items() if word != known.get(name)})


def walked(project: Path, without: Path) -> TreeListing | None:
    """Return how a folder stands that is in no repository; None if it has too many files, or is none.

    What is git's, litter and what lies in the folder `without` do not count.
    """
    if not project.is_dir():
        return None
    names = list[str]()
    for name in _files(project, without):
        names.append(name)
        if len(names) > MOST:
            return None
    reader = _Reader(project, 0)
    return TreeListing("", {name: reader.word(name) for name in sorted(names)})


def moved_between(repository: Repository, old: str, new: str) -> dict[str, tuple[str, str]]:
    """Return the words of each file in which two trees of git's differ; an empty name is of a tree without files.

    Raises:
        Unavailable: git cannot do it now, or does not have one of them.

    """
    if old == new:
        return {}
    git = repository.git
    trees = [each or _no_files(git) for each in (old, new)]
    raw = git.ask("diff-tree", "-r", "-z", "--raw", "--no-renames", *trees)
    return raw_changes(raw)


def _no_files(git: Git) -> str:
    """Return git's name of a tree without files."""
    return git.ask("hash-object", "-t", "tree", "--stdin")


def _inner(repository: Repository, path: Path, depth: int) -> str:
    """Return a word for a repository within the tree, which git itself does not look into."""
    if depth < _DEEPEST:
        with contextlib.suppress(GitFailed, OSError):
            if (found := listed(repository, path, path / ".git", depth + 1)) is not None:
                return f"repository {sha256(str(found).encode()).hexdigest()}"
    return "repository"


def _files(project: Path, without: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(project):
        here = Path(folder).relative_to(project)
        folders[:] = [
            name
            for name in folders
            if name != ".git" and not is_litter(f"{name}/") and project / here / name != without
        ]
        links = [name for name in folders if (project / here / name).is_symlink()]
        for name in (*files, *links):
            if not is_litter(name):
                yield str(here / name)
