"""What git knows, asked without a shell and without the repository's own hooks."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from errors import GitError
from wording import first_line

GIT_SECONDS = 300
REGULAR = {"100644", "100755"}
SYMLINK = "120000"
SUBMODULE = "160000"
# External diff programs and hooks are the user's convenience; here they would be somebody else's code.
GIT = ("git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
PLAIN_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")


@dataclass(frozen=True)
class Entry:
    """One file of a commit, or one submodule; `object` names its content, or the submodule's commit."""

    path: str
    mode: str
    object: str


@dataclass(frozen=True)
class Change:
    """One file that differs; the numbers of lines are None for what is no text."""

    path: str
    added: int | None
    removed: int | None
    untracked: bool = False


class Repository:
    """One work tree: a folder under git."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *arguments: str, **environment: str) -> bytes:
        """What a git command prints.

        Raises:
            GitError: it failed, did not end in time, or there is no git.
        """
        # Where git was called from must not decide which repository is meant.
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        clean |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", **environment}
        try:
            done = subprocess.run(
                [*GIT, *arguments],
                cwd=self.folder,
                env=clean,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=GIT_SECONDS,
                check=False,
            )
        except OSError as error:
            raise GitError(f"git cannot be run in {self.folder}: {error}") from error
        except subprocess.TimeoutExpired:
            raise GitError(f"git {arguments[0]} did not end within {GIT_SECONDS} s.") from None
        if done.returncode:
            words = first_line(os.fsdecode(done.stderr)) or f"exit status {done.returncode}"
            raise GitError(f"git {arguments[0]} failed in {self.folder}: {words}")
        return done.stdout

    def line(self, *arguments: str) -> str:
        """The one line that a git command prints."""
        return os.fsdecode(self.git(*arguments)).strip("\n")

    def commit(self, revision: str = "HEAD") -> str:
        """The full name of the commit that `revision` stands for.

        Raises:
            GitError: there is no such commit.
        """
        return self.line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")

    def fork(self, branch: str) -> str:
        """The last commit that this work tree has in common with a branch, which may have gained others' work since.

        Raises:
            GitError: there is no such branch, or they have nothing in common.
        """
        return self.line("merge-base", "HEAD", f"refs/heads/{branch}")

    @cached_property
    def common(self) -> Path:
        """The git directory that all work trees of the repository share."""
        return Path(self.line("rev-parse", "--path-format=absolute", "--git-common-dir")).resolve()

    def is_linked(self) -> bool:
        """Whether this is a work tree made beside the first one."""
        own = Path(self.line("rev-parse", "--path-format=absolute", "--git-dir")).resolve()
        return own != self.common

    def users_tree(self, project: Path) -> Path:
        """The top of the user's own work tree, for a project in it: the one to look at and not to touch."""
        other = Repository(project)
        try:
            if other.common == self.common:
                return Path(other.line("rev-parse", "--show-toplevel"))
        except GitError:
            pass
        return self.common.parent if self.common.name == ".git" else self.folder

    def entries(self, revision: str = "HEAD") -> list[Entry]:
        """Every file of a commit."""
        found = []
        for record in os.fsdecode(self.git("ls-tree", "-r", "-z", "--full-tree", revision)).split("\0"):
            if record:
                about, _, path = record.partition("\t")
                mode, _, name = about.split()
                found.append(Entry(path, mode, name))
        return found

    def python_files(self, revision: str = "HEAD") -> list[str]:
        """The Python files of a commit: no symbolic links, and only names that are text."""
        return [
            entry.path
            for entry in self.entries(revision)
            if entry.mode in REGULAR and entry.path.endswith((".py", ".pyi")) and _is_text(entry.path)
        ]

    def blob(self, revision: str, path: str) -> bytes | None:
        """A file's content in a commit; None if it has no such file."""
        try:
            return self.git("cat-file", "blob", f"{revision}:{path}")
        except GitError:
            return None

    def changes(self, since: str) -> list[Change]:
        """What in this work tree differs from the commit `since`, files that git does not track included."""
        found = []
        for record in os.fsdecode(self.git("diff", "--numstat", "-z", *PLAIN_DIFF, since, "--")).split("\0"):
            if record:
                added, removed, path = record.split("\t", 2)
                found.append(Change(path, _number(added), _number(removed)))
        others = os.fsdecode(self.git("ls-files", "--others", "--exclude-standard", "-z")).split("\0")
        return found + [Change(path, None, None, untracked=True) for path in others if path]

    def diff(self, since: str, until: str = "") -> bytes:
        """The difference as `git apply` takes it, from `since` to `until` (nothing: to this work tree)."""
        return self.git("diff", "--binary", *PLAIN_DIFF, since, *([until] if until else []), "--")

    def commits(self, since: str, until: str = "HEAD") -> list[str]:
        """The commits after `since` up to `until`, oldest first: short name and first line."""
        lines = self.line("log", "--reverse", "--format=%h %s", f"{since}..{until}", "--").splitlines()
        return [line for line in lines if line]

    def merges(self, since: str, until: str = "HEAD") -> int:
        """How many of the commits after `since` are merges."""
        return int(self.line("rev-list", "--count", "--merges", f"{since}..{until}", "--"))

    def restore(self, paths: list[str]) -> None:
        """Put files back to what HEAD has."""
        if paths:
            # Names go by standard input in no git of interest; a list of arguments has room for thousands.
            self.git("checkout", "HEAD", "--", *(f":(literal){path}" for path in paths))

    def export(self, revision: str, into: Path, index: Path) -> None:
        """Lay the files of a commit into the folder `into`; `index` is a file to work with, anywhere."""
        self.git("read-tree", revision, GIT_INDEX_FILE=str(index))
        self.git("checkout-index", "--all", "--force", f"--prefix={into}/", GIT_INDEX_FILE=str(index))

    def copy(self, into: Path) -> None:
        """Lay this work tree's files, as they stand, into the folder `into`.

        Only what HEAD has: an untracked file would make a test pass here that fails elsewhere. A symbolic
        link is copied as a link, and only if it stays inside.
        """
        for entry in self.entries():
            source, target = self.folder / entry.path, into / entry.path
            if entry.mode == SYMLINK and source.is_symlink() and stays_inside(entry.path, source.readlink()):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(source.readlink())
            elif entry.mode in REGULAR and is_regular(source):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)


def is_regular(path: Path) -> bool:
    """Whether there is a regular file, and not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def stays_inside(link: str, target: Path) -> bool:
    """Whether a symbolic link at `link`, seen from the top of its tree, leads to a place in that tree."""
    if target.is_absolute():
        return False
    depth = 0
    for part in (*PurePosixPath(link).parent.parts, *target.parts):
        depth += -1 if part == ".." else 1
        if depth < 0:
            return False
    return True


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None
