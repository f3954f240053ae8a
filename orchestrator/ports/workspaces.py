"""Workspaces: the trees that steps write in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from orchestrator.ports.worktree import Tree

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Upon:
    """A step's work on top of what the task's branch has gained up to the commit `onto`; empty: it gained nothing.

    `both` are the files that both sides changed, `others` the commits gained, as `hash subject`. `same`: the change
    itself, with the lines around it, came out as it was.
    """

    commit: str
    onto: str = ""
    both: tuple[str, ...] = ()
    same: bool = True
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileSeen:
    """What a branch has at a path: a folder, a file of so many lines, or a link, which leads who knows where.

    `is_empty`: the file has no bytes, or no file of the folder has any.
    """

    is_folder: bool
    lines: int
    is_link: bool = False
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class FileChange:
    """How a file differs between two commits: the lines that were added and removed, None of a binary file.

    `is_new`: the first of the commits has no such file.
    """

    path: str
    added: int | None
    removed: int | None
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class CommitSeen:
    """One commit of a branch: its hash, the first line of its message, and when it was made (seconds)."""

    commit: str
    subject: str
    at: float


@dataclass(frozen=True, slots=True)
class BranchSurvey:
    """What a task's branch has that its base has not. `count` is of all its commits, `commits` the last of them.

    `merged`: another branch, which the user's tree has checked out, has all of it. `gone`: there is no such branch any
    more, and this is what was merged of it.
    """

    tip: str
    count: int
    commits: tuple[CommitSeen, ...]
    files: int
    added: int
    removed: int
    merged: bool
    gone: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What lies in a tree and can be in no commit of it.

    `ignored` is ignored by git, apart from litter; of a folder only its name. `repositories` were made inside the tree.
    `submodules` are checked out: a commit has only the commit that each points to, and that is not looked at.
    """

    ignored: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BranchFound:
    """Where a task's branch was found (`tip`, empty: there was none), and the accepted commit that it is to be at.

    `wanted` is empty where that cannot be told, or nothing was accepted and there is no branch. If the two differ, the
    branch was moved back to `wanted`, unless `reason` says why not; `kept` is the ref that has what else was on it.
    """

    tip: str
    wanted: str
    kept: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KeptWork:
    """Work of an earlier try that was kept: the ref that holds it, and when it was put there (seconds)."""

    ref: str
    at: float


class Holder(StrEnum):
    """Who has a commit in the repository here, on a ref."""

    NOBODY = "nobody"  # it is not here, or no ref leads to it
    TASK = "task"  # the task that asks
    USER = "user"  # a branch, tag or remote of the user's, and not that task
    OTHERS = "others"  # other tasks alone


class Workspaces(Protocol):
    """Worktrees of a git repository. All calls are repeatable and end by a deadline; all raise `Unavailable`.

    The user's own tree, index, stash, hooks and current branch are never touched. Hooks of the repository are
    not run.
    """

    def head(self, project: Path) -> str:
        """Return the commit that the user's tree stands on.

        Raises Refused, with what to do: not a git repository, or no commit yet.
        """
        ...

    def folder(self, project: Path) -> Path:
        """Return the git folder of a project's repository, which all its worktrees share. Raises Refused."""
        ...

    def prepare(self, tree: Tree, attempt: int, work: str = "") -> Path:
        """Make the tree if it is missing and bring it, clean, to the tip of the task's branch.

        The branch is made from `base` if it is missing. Work found in the tree, and in earlier lives of it, is first
        kept: a commit under `refs/tasks/<branch>/<name>/<attempt>-<n>`. The folders of earlier lives are removed; one
        that cannot be just now is no obstacle. With `work`, a commit of an earlier attempt, what
        that changed comes to lie in the tree, uncommitted; where the branch changed the same lines meanwhile, conflict
        markers show both sides. Returns the tree's path.
        """
        ...

    def where(self, tree: Tree) -> Path:
        """Return the folder to work in of a tree as it stands, as `prepare` did.

        One that is gone is made anew at the commit that `commit` made of it, if it did. Raises TreeLost if work that
        was in no commit is gone.
        """
        ...

    def tend(self, tree: Tree) -> str:
        """Return why a tree in which somebody works is no longer the one that was made; empty if it is.

        What only git has forgotten of it (`git worktree prune`) is put back. While all is well it looks at two files.
        """
        ...

    def look(self, tree: Tree) -> str:
        """Return a word for what lies in a tree and is not ignored, which `tidy` takes. No file is changed there.

        Empty: the tree is not there as it was made.
        """
        ...

    def tidy(self, tree: Tree, attempt: int, before: str) -> tuple[tuple[str, ...], str]:
        """Let a tree lie as it did when `look` returned `before`; what lies there now is kept first, as by `prepare`.

        Where git cannot lay it so, it is left as it lies.

        Returns the files that differed, and the ref that keeps them: nothing where none did. A tree that is not there
        as it was made is left alone.
        """
        ...

    def commit(self, tree: Tree, message: str, *, attempt: int = 0) -> tuple[str, int]:
        """Put all that changed in the tree on its branch as one commit on top of the tip of the task's branch.

        Returns the commit and the number of files in it; `("", 0)` if nothing differs from the tip. A commit that was
        made of the tree before counts all the same.

        Raises:
            AtOdds: the branch gained what does not fit. The tree's own branch then has the work on the commit that it
                began on.
            Unresolved: conflict markers are left in it.
            TreeLost: the tree is gone; or another folder is in its place that lacks files, which nobody may have
                deleted. What lies there is kept first, as `prepare` does.

        """
        ...

    def left_out(self, tree: Tree) -> LeftOut:
        """Return what lies in a tree and was in no commit that `commit` made of it. Nothing there is changed."""
        ...

    def adopt(self, tree: Tree, attempt: int, commit: str) -> tuple[str, int]:
        """Let the tree and its branch stand on a commit that was made elsewhere, as if the work had been done here.

        What lay in the tree is kept as by `prepare`. Returns the commit and the number of files in which it differs
        from the task's branch; `("", 0)` if that has it already: then the tree stands on that branch's tip, for whoever
        judges it. One that builds on an earlier commit of that branch is put upon its tip when it is merged. Raises
        Refused where the two have nothing in common.
        """
        ...

    def holder(self, project: Path, branch: str, commit: str) -> Holder:
        """Return who has a commit, by its full hash, seen from the task with this branch.

        Raises Refused, Unavailable.
        """
        ...

    def ignored(self, tree: Tree, paths: Sequence[str]) -> tuple[str, ...]:
        """Return those of these paths, relative to the project's folder in the tree, that no commit of it would hold.

        Git ignores them there, and does not track them.
        """
        ...

    def file_on(self, project: Path, branch: str, path: str) -> FileSeen | None:
        """Return what a branch has at a path of the project; None if there is nothing. Raises Refused: no branch."""
        ...

    def holds_named(self, project: Path, branch: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of these paths that a branch has: in the project, or by the end of a path anywhere beneath it.

        Large and small letters are the same here: whoever names a file in a sentence may not be exact. Raises Refused:
        no branch.
        """
        ...

    def commit_on(self, project: Path, branch: str, name: str, *, beyond: str = "") -> str:
        """Return the full hash of a commit that a branch has, by a full or shortened one; empty if it has no such.

        With `beyond`, a commit, only one counts that this does not have already.
        """
        ...

    def altered(self, project: Path, base: str, commit: str, paths: Sequence[str]) -> tuple[FileChange, ...]:
        """Return how the files at these paths of the project, or beneath them, differ between two commits, by path.

        A path is taken as it is: no sign in it is a pattern. Raises Refused: there is no such commit.
        """
        ...

    def survey(self, project: Path, branch: str, base: str, left: str = "") -> BranchSurvey | None:
        """Return what a branch has that its base has not; None if there is no such branch.

        One that was left at the commit `left`, was merged and then deleted is told as `gone`.
        """
        ...

    def unfinished(self, tree: Tree) -> tuple[str, ...]:
        """Return the files in which a tree differs from the commit that it was brought to; none if it is not there.

        Files that git ignores do not count. No file is changed there.
        """
        ...

    def kept(self, tree: Tree) -> list[KeptWork]:
        """Return where work of earlier tries in this tree was kept, the newest first."""
        ...

    def fingerprint(self, project: Path, without: Path) -> str:
        """Return how a user's own tree stands, by the content of its files (`formats.tree_listing`).

        What git ignores does not count, nor does litter, nor what lies in the folder `without`. In no git repository
        each file counts. Empty: it has too many files, so that nobody can tell.
        """
        ...

    def differing(self, project: Path, before: str, now: str) -> tuple[str, ...] | None:
        """Return the files in which a user's own tree differs between two answers of `fingerprint`.

        None: one of them is empty, or was given by an earlier version. What was staged or committed and has the same
        content is no difference.
        """
        ...

    def gained(self, tree: Tree, commit: str, *, alone: bool = False) -> str:
        """Return the tip of the task's branch if a commit cannot be merged by moving it forward; empty if it can.

        The branch has gained what the commit does not build on; or, with `alone`, the commit does not lie directly upon
        it, and would bring more than itself. Raises Refused: there is no such commit, or no branch.
        """
        ...

    def put_upon(self, tree: Tree, attempt: int, commit: str, *, alone: bool = False) -> Upon:
        """Put a commit of the tree upon what the task's branch has gained; the tree then stands on the new one.

        With `alone` only what the commit itself changed is taken; otherwise all that its history has and the branch has
        not. Author, date and message stay. What lay in the tree is kept as by `prepare`. Where `gained` says that there
        is nothing to do, nothing is done. Raises AtOdds, and Refused: there is no such commit.
        """
        ...

    def merge(self, tree: Tree, commit: str, *, alone: bool = False) -> str:
        """Move the task's branch to `commit` if that is a fast-forward; already there is fine.

        `alone`: only if the commit lies directly upon the branch, so that it brings nothing but itself. Returns an
        empty string, or the reason why it could not be.
        """
        ...

    def restore(
        self, project: Path, branch: str, base: str, accepted: Sequence[str], known: Collection[str] = ()
    ) -> BranchFound:
        """Let the task's branch stand on the last accepted commit, or on `base` if none was; there already is fine.

        What else was on the branch stays on a ref, `refs/tasks/<branch>/strays/at-<tip>`. One that is gone is made
        again, if anything was accepted. One on a `known` commit stays there: that is just being merged.
        """
        ...

    def holds(self, tree: Tree, commit: str) -> bool:
        """Tell whether the task's branch has a commit."""
        ...

    def rebase(self, project: Path, branch: str, old: str, new: str) -> str:
        """Move the task's branch from `old` to `new`, which need not build on it; already there is fine.

        What was there stays on a ref, `refs/tasks/<branch>/rebased/at-<old>`. Returns an empty string, or the reason
        why it could not be moved.
        """
        ...

    def release(self, tree: Tree, attempt: int) -> None:
        """Keep as `prepare` does what is not on the task's branch, then remove the tree and its own branch.

        All lives of the tree go. The task's branch stays as it is.
        """
        ...

    def remains(self, project: Path, root: Path, branch: str) -> set[str]:
        """Return the names of the trees of a task of which anything is there: a folder, a note, a branch of its own."""
        ...
