"""The user's repository as it is seen from outside its trees: commits, branches, refs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from orchestrator.model.errors import Refused, Unavailable
from orchestrator.workspaces.git_process import PLACE, Git, GitFailed, shown
from orchestrator.workspaces.locks import explained, lock_named, look_at

OLDEST_GIT: Final = (2, 31)
"""The oldest git that runs no program of a repository's choice for us, and that tells where a repository lies."""

WHOLE_GIT: Final = (2, 38)
"""The oldest git by which work that was done side by side is joined: `task rebase` and foretold merges need it too."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_IN_THE_MAKING: Final = re.compile(r"failed to read .+/worktrees/[^/]+/commondir")
_TRIES: Final = 8
_OURS: Final = ("refs/heads/task/", "refs/heads/task-work/", "refs/tasks/")

_NOBODY: Final = {
    "GIT_AUTHOR_NAME": "Agent Orchestrator",
    "GIT_AUTHOR_EMAIL": "agent-orchestrator@localhost",
    "GIT_COMMITTER_NAME": "Agent Orchestrator",
    "GIT_COMMITTER_EMAIL": "agent-orchestrator@localhost",
}


class Moved(Unavailable):
    """A ref was not where it was last seen: somebody else moved it meanwhile."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository. `folder` is its git folder, `prefix` the project's place in a tree: `""` or `sub/`."""

    git: Git
    folder: Path
    prefix: str

    @classmethod
    def of(cls, project: Path, deadline: float, environ: Mapping[str, str]) -> Repository:
        """Find the repository that `project` lies in.

        Raises:
            Refused: there is none, or git will not touch it; with what to do.
            Unavailable: git cannot be asked now.

        """
        if not project.is_dir():
            raise Refused(f"{project} is not a folder")
        if "\n" in str(project):
            raise Refused(
                f"{str(project)!a} has a line break in its name, which git's answers are told apart by: rename it"
            )
        git = Git(project, deadline, environ)
        try:
            said = git.ask(*PLACE)
        except GitFailed as error:
            raise Refused(_no_repository(project, error.said)) from error
        folder, _, prefix = said.partition("\n")
        if folder.startswith("--path-format"):  # a git that does not know the word says it again
            wanted = ".".join(map(str, OLDEST_GIT))
            raise Refused(
                f"the git on the PATH is too old: install git {wanted} or newer (`git --version` tells which it is)"
            )
        return cls(replace(git, variables={"GIT_DIR": folder}), Path(folder), prefix)

    def head(self, project: Path) -> str:
        """Return the commit that the user's tree stands on (`GIT_DIR` alone would ask the main tree).

        Raises:
            Refused: there is no commit yet.

        """
        here = replace(self.git, variables={})
        if commit := here.find("rev-parse", "--verify", "--quiet", "HEAD^{commit}"):
            return commit
        raise Refused(f"{project} has no commit yet: make one, for example with `git commit --allow-empty`")

    def standing_on(self) -> str:
        """Return the branch that the user's tree has checked out; empty if none is."""
        here = replace(self.git, variables={})
        return here.find("symbolic-ref", "--quiet", "HEAD").removeprefix("refs/heads/")

    def commit_of(self, name: str) -> str:
        """Return the commit that a full ref name or a hash stands for; empty if there is none."""
        return self.git.find("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")

    def commits_of(self, *names: str) -> list[str]:
        """Return the commit that each of some full ref names or hashes stands for; empty where there is none."""
        asked = "".join(f"{name}^{{commit}}\n" for name in names)
        said = self.git.ask("cat-file", "--batch-check=%(objectname)", stdin=asked.encode())
        return [line if _COMMIT.fullmatch(line) else "" for line in said.split("\n")]

    def tree_of(self, commit: str) -> str:
        """Return the tree of a commit."""
        return self.git.ask("rev-parse", "--verify", f"{commit}^{{tree}}")

    def same_files(self, old: str, new: str) -> bool:
        """Tell whether two commits or trees hold the same files."""
        return self.git.holds("diff-tree", "--quiet", old, new)

    def parents_of(self, commit: str) -> list[str]:
        """Return the commits upon which a commit was made."""
        return self.git.ask("show", "--no-patch", "--format=%P", commit).split()

    def is_ancestor(self, old: str, new: str) -> bool:
        """Tell whether `old` is `new` or one of the commits that led to it."""
        return old == new or self.git.holds("merge-base", "--is-ancestor", old, new)

    def user_of(self, branch: str) -> str:
        """Return the folder of the tree that has `branch` checked out; empty if none that is still there has.

        Asks for the trees, as there are few: asking for the branch reads every loose ref beside it.
        """
        for tree in self._trees():
            if tree.get("branch") == f"refs/heads/{branch}" and Path(tree["worktree"]).is_dir():
                return tree["worktree"]
        return ""

    def _trees(self) -> list[dict[str, str]]:
        """Return what git tells of each of its trees, by its words: `worktree`, `HEAD`, `branch` and more."""
        try:
            said, end = self.git.ask("worktree", "list", "--porcelain", "-z"), "\0"
        except GitFailed as error:
            if "unknown switch" not in error.said:
                raise
            # Before 2.36: a path with a line break cannot be told from two lines, and then names no folder.
            said, end = self.git.ask("worktree", "list", "--porcelain"), "\n"
        return [dict(line.partition(" ")[::2] for line in tree.split(end)) for tree in said.split(end * 2)]

    def move(self, ref: str, new: str, old: str, why: str) -> None:
        """Move a ref from `old` (empty: it is not there yet) to `new`.

        Raises:
            Moved: it was not at `old`.
            Unavailable: git cannot do it now.

        """
        order = f"update {ref}\0{new}\0{old}\0" if old else f"create {ref}\0{new}\0"
        try:
            self.alter(
                "update-ref", "-m", f"agent-orchestrator: {why}", "--stdin", "-z", stdin=order.encode()
            )
        except GitFailed as error:
            if "but expected" in error.said or "already exists" in error.said:
                raise Moved(f"{ref} was moved by somebody else") from error
            raise

    def drop(self, ref: str, old: str) -> None:
        """Remove a ref that is at `old`. Raises Moved if it is not, Unavailable."""
        try:
            self.alter("update-ref", "--stdin", "-z", stdin=f"delete {ref}\0{old}\0".encode())
        except GitFailed as error:
            if "but expected" in error.said:
                raise Moved(f"{ref} was moved by somebody else") from error
            raise

    def alter(self, *arguments: str, stdin: bytes = b"", git: Git | None = None) -> str:
        """Run a command that takes locks on our own refs, and clear away one that a killed git left behind.

        One that came upon a worktree which another git is just making is run again, a few times: of six at once that
        is one, of those that begin in the same moment every second one (measured).

        Raises:
            Refused: a lock that nobody holds is in the way, and is not ours to remove.
            Unavailable: git cannot do it now.

        """
        git = git or self.git
        for _ in range(_TRIES):
            try:
                return git.ask(*arguments, stdin=stdin)
            except GitFailed as error:
                if not _IN_THE_MAKING.search(error.said):
                    self._clear(error, git.deadline)
                    break
        return git.ask(*arguments, stdin=stdin)

    def _clear(self, error: GitFailed, deadline: float) -> None:
        """Clear away the lock on which a command failed. Raises Refused, or the error itself, if that cannot be."""
        if self._unlocked(lock_named(error.said)):
            return
        if (locked := explained(error, deadline)) is not error:
            raise locked from error
        raise error

    def record(self, tree: str, parent: str, message: str, others: Sequence[str] = ()) -> str:
        """Make a commit, on no branch yet, and return it. The user is its author if git knows them.

        `others` are further parents.

        Raises:
            Unavailable: git cannot do it now.

        """
        known = self.git.find("config", "--get-regexp", r"^user\.(name|email)$")
        variables = dict(self.git.variables)
        if not (
            re.search(r"^user\.name \S", known, re.MULTILINE)
            and re.search(r"^user\.email \S", known, re.MULTILINE)
        ):
            variables = _NOBODY | variables
        text = "".join(sign for sign in message.strip() if sign != "\0") or "Work of an agent"
        return replace(self.git, variables=variables).ask(
            "commit-tree",
            tree,
            *(word for each in (parent, *others) for word in ("-p", each)),
            stdin=text.encode(errors="replace") + b"\n",
        )

    def _unlocked(self, path: Path | None) -> bool:
        """Remove the lock of one of our own refs if nobody can hold it any more."""
        if path is None:
            return False
        inside = os.path.relpath(os.path.realpath(path), os.path.realpath(self.folder))
        if not inside.removeprefix("logs/").startswith(_OURS):
            return False
        lock = look_at(path)
        if lock is not None and not lock.is_stale(self.git.deadline):
            return False
        path.unlink(missing_ok=True)
        return True


def checked_commit(text: str) -> str:
    """Return `text` if it has the form of a commit's hash.

    Raises:
        Refused: it has not.

    """
    if not _COMMIT.fullmatch(text):
        raise Refused(f"{text[:60]!a} is not a commit's full hash")
    return text


def _no_repository(project: Path, said: str) -> str:
    if "not a git repository" in said:
        return (
            f"{project} is not in a git repository: run `git init` there and commit, or write "
            "`workspace: shared` under Agent Config of task.md"
        )
    if "dubious ownership" in said:
        return f"{project} belongs to another user: run `git config --global --add safe.directory {project}`"
    return f"git cannot read the repository of {project}: {shown(said)}"
