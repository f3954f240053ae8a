"""What a tree that is not the task's own looks like, in one word: two of them tell whether anything was changed."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.snapshot import CACHES


def fingerprint(repository: Repository, project: Path, without: Path) -> str:
    """Return a word for how a user's tree stands: its commit, its index, and each file that differs from that.

    Files are told apart by inode, size and time, and are not read. What git ignores does not count, nor do caches, nor
    does what lies in the folder `without`.

    Raises:
        Unavailable: git cannot do it now.

    """
    git = repository.git
    top = Path(git_top(repository, project))
    arguments = [
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=all",
    ]
    arguments += ["--", ":/", *(f":(top,exclude,glob)**/{name}/**" for name in CACHES)]
    if without.is_relative_to(top):
        arguments.append(f":(top,exclude,literal){without.relative_to(top)}")
    said = type(git)(project, git.deadline, git.environ).run(*arguments)[1]
    seen = sha256(said)
    for record in filter(
        None, said.split(b"\0")
    ):  # the end is no file: its name would be that of the whole tree
        name = record.partition(b" ")[2] if record[:2] == b"? " else record.rsplit(b" ", 1)[-1]
        with suppress(OSError, ValueError):
            found = os.lstat(os.fsencode(top) + b"/" + name)
            seen.update(b"%d %d %d %d;" % (found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode))
    return seen.hexdigest()


def git_top(repository: Repository, project: Path) -> str:
    """Return the top folder of the tree that `project` lies in."""
    git = repository.git
    return type(git)(project, git.deadline, git.environ).ask("rev-parse", "--show-toplevel")
