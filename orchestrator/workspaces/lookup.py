"""Looking things up in the user's repository: files and commits of a branch, and what a branch has gained."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from hashlib import sha1, sha256
from pathlib import Path, PurePosixPath
from typing import Final

from orchestrator.ports.workspaces import BranchSurvey, CommitSeen, FileChange, FileSeen
from orchestrator.workspaces.git_process import Git, GitFailed
from orchestrator.workspaces.repository import Repository, checked_commit

COMMITS_LISTED: Final = 200
"""How many commits of a branch are listed; all of them are counted."""

OTHERS_NAMED: Final = 10
"""How many commits of the other side of a conflict are named."""

_SHORT: Final = re.compile(r"[0-9a-f]{7,64}")
_BEYOND: Final = "is beyond a symbolic link"
_LINK: Final = "120000 "  # the mode of a symbolic link
_FILE_MODE: Final = "100"  # how the modes of plain files begin
_CHANGED: Final = re.compile(r"(\d+) file|(\d+) insertion|(\d+) deletion")


def file_on(repository: Repository, tip: str, path: str) -> FileSeen | None:
    """Return what a commit has at a path of the project; None if there is nothing, or the path leads elsewhere."""
    plain = PurePosixPath(path)
    if plain.is_absolute() or ".." in plain.parts or not plain.parts:
        return None
    name = f"{tip}:{repository.prefix}{plain}"
    kind = repository.git.run("cat-file", "-t", name, allowed=(0, 1, 128))[1].decode().strip()
    if kind == "tree":
        return FileSeen(is_folder=True, lines=0, is_empty=not _holds_a_file(repository, name))
    if kind != "blob":
        return None
    entry = repository.git.ask("ls-tree", "--full-tree", "-z", tip, "--", f"{repository.prefix}{plain}")
    if entry.startswith(_LINK):
        return FileSeen(is_folder=False, lines=0, is_link=True)
    data = repository.git.run("cat-file", "blob", name)[1]
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return FileSeen(is_folder=False, lines=lines, is_empty=not data)


def paths_on(repository: Repository, tip: str) -> tuple[str, ...]:
    """Return the paths of all files that a commit has in the project."""
    inside = (f":(top,literal){repository.prefix}",) if repository.prefix else ()
    said = repository.git.ask("ls-tree", "-r", "-z", "--name-only", "--full-tree", tip, "--", *inside)
    return tuple(path.removeprefix(repository.prefix) for path in said.split("\0")[:-1])


def _holds_a_file(repository: Repository, folder: str) -> bool:
    """Tell whether a tree of git's has a plain file that is not empty, by the names of the files' contents."""
    for line in repository.git.ask("ls-tree", "-r", "-z", "--full-tree", folder).split("\0")[:-1]:
        mode, _, named = line.partition("\t")[0].split(" ")
        if mode.startswith(_FILE_MODE) and named != _empty_like(named):
            return True
    return False


def _empty_like(named: str) -> str:
    """Return git's name of the empty file, in a repository that names files by hashes as long as this one."""
    return (sha256 if len(named) == len(sha256().hexdigest()) else sha1)(b"blob 0\0").hexdigest()


def commit_on(repository: Repository, tip: str, name: str, beyond: str = "") -> str:
    """Return the full hash of a commit of a branch, by a full or shortened one; empty if the branch has no such.

    With `beyond`, a commit, only one counts that this does not have already.
    """
    if not _SHORT.fullmatch(name):
        return ""
    commit = repository.git.run(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", allowed=(0, 1, 128)
    )[1].decode()
    commit = commit.strip()
    if not commit or not repository.is_ancestor(commit, tip):
        return ""
    return "" if beyond and repository.is_ancestor(commit, beyond) else commit


def changed_files(repository: Repository, before: str, after: str) -> tuple[str, ...]:
    """Return the files in which two trees of git's differ."""
    said = repository.git.ask("diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after)
    return tuple(said.split("\0")[:-1])


def altered(repository: Repository, base: str, commit: str, paths: Sequence[str]) -> tuple[FileChange, ...]:
    """Return how the files at these paths of the project, or beneath them, differ between two commits."""
    if not paths:
        return ()
    said = repository.git.ask(
        "diff-tree",
        *("-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", base, commit, "--"),
        *(f":(top,literal){repository.prefix}{path}" for path in paths),
    )
    found = []
    for line in said.split("\0")[:-1]:
        added, removed, path = line.split("\t", 2)
        is_new = repository.git.run("cat-file", "-e", f"{base}:{path}", allowed=(0, 1, 128))[0] != 0
        name = path.removeprefix(repository.prefix)
        found.append(FileChange(name, _number(added), _number(removed), is_new=is_new))
    return tuple(found)


def _number(lines: str) -> int | None:
    return int(lines) if lines.isdigit() else None  # `-` of a binary file


def commits_gained(repository: Repository, base: str, tip: str, files: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the commits that a branch has gained, the newest first, as `hash subject`; perhaps of some files only."""
    said = repository.git.ask(
        "log",
        f"--max-count={OTHERS_NAMED}",
        "--first-parent",
        "--format=%h %s",
        f"{base}..{tip}",
        "--",
        *files,
    )
    return tuple(said.splitlines())


def survey(
    repository: Repository, project: Path, branch: str, base: str, left: str = ""
) -> BranchSurvey | None:
    """Return what a branch has that its base has not; None if there is no such branch, and `left` is not merged."""
    there = repository.commit_of(f"refs/heads/{branch}")
    tip = there or (repository.commit_of(checked_commit(left)) if left else "")
    if not tip:
        return None
    git = repository.git
    # Whoever looks at the branch itself, or at a commit of no branch, has not merged it.
    merged = repository.standing_on() not in {"", branch} and repository.is_ancestor(
        tip, repository.head(project)
    )
    if not (there or merged):
        return None
    if tip == base:
        return BranchSurvey(tip, 0, (), 0, 0, 0, merged=merged, gone=not there)
    count = int(git.ask("rev-list", "--count", f"{base}..{tip}"))
    listed = git.ask(
        "log", f"--max-count={COMMITS_LISTED}", "--reverse", "--format=%H%x00%ct%x00%s", f"{base}..{tip}"
    )
    commits = tuple(
        CommitSeen(commit, subject, float(at))
        for commit, at, subject in (line.split("\0", 2) for line in listed.splitlines())
    )
    files, added, removed = _changed(
        git.ask("diff", "--shortstat", "--no-ext-diff", "--no-textconv", base, tip)
    )
    return BranchSurvey(tip, count, commits, files, added, removed, merged=merged, gone=not there)


def _changed(said: str) -> tuple[int, int, int]:
    """Return files, insertions and deletions of `git diff --shortstat`."""
    found = [0, 0, 0]
    for groups in _CHANGED.findall(said):
        for place, number in enumerate(groups):
            found[place] = int(number) if number else found[place]
    return found[0], found[1], found[2]


def ignored(git: Git, paths: Sequence[str]) -> tuple[str, ...]:
    """Return those of these paths, relative to where git is run, that git ignores there and does not track.

    None is, where one of them leads through a link: git then tells of no path.

    Raises:
        Unavailable: git cannot tell now.

    """
    stdin = b"".join(os.fsencode(path) + b"\0" for path in paths)
    try:
        _, said = git.run("check-ignore", "-z", "--stdin", stdin=stdin, allowed=(0, 1))
    except GitFailed as error:
        if _BEYOND in error.said:
            return ()
        raise
    return tuple(os.fsdecode(said).split("\0")[:-1])
