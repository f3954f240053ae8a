"""A task's commits made anew upon another commit, each by itself: objects only, no ref and no file is touched."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from orchestrator.model.errors import Unavailable
from orchestrator.workspaces.commit_work import merged_tree
from orchestrator.workspaces.repository import Moved, Repository, checked_commit

if TYPE_CHECKING:
    from collections.abc import Mapping

_AUTHOR = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE")


@dataclass(frozen=True, slots=True)
class Replayed:
    """Commits made anew. `tip` is the last; `commits` gives by each what became of it, empty where nothing was left.

    Where one is at odds with what lies there, `stopped` is that commit, by its hash and first line, and `conflicts`
    the files.
    """

    tip: str
    commits: Mapping[str, str] = field(default_factory=dict)
    stopped: str = ""
    conflicts: tuple[str, ...] = ()


def replayed(repository: Repository, base: str, tip: str, onto: str) -> Replayed:
    """Make anew upon `onto` what a branch gained from `base` to `tip`, commit by commit, as `git rebase` would.

    What came in by a merge by hand is taken as one change; what `onto` has already is left out. A branch that builds on
    `onto` already stays as it is.

    Raises:
        Unavailable: git cannot do it now, or is older than 2.38.

    """
    if repository.is_ancestor(onto, tip):
        return Replayed(tip)
    git = repository.git
    listed = git.ask("rev-list", "--first-parent", "--reverse", f"{base}..{tip}", f"^{onto}").split()
    at, made = onto, dict[str, str]()
    for commit in listed:
        again, conflicts = made_anew(repository, commit, at)
        if conflicts:
            title = git.ask("show", "--no-patch", "--format=%s", commit)
            return Replayed(at, made, f"{commit[:10]} {title}", conflicts)
        made[commit], at = again, again or at
    return Replayed(at, made)


def made_anew(repository: Repository, commit: str, onto: str) -> tuple[str, tuple[str, ...]]:
    """Return what one commit changed, as a commit upon another; empty if nothing is left of it.

    If the two are at odds, return no commit, and the files where they are.

    Raises:
        Unavailable: git cannot do it now, or is older than 2.38.

    """
    parent = repository.git.ask("rev-parse", "--verify", f"{commit}^")
    # A commit with the files of `onto` on top of the parent: git then joins from where the commit began.
    ours = repository.record(repository.tree_of(onto), parent, "Where it is replayed")
    tree, conflicts = merged_tree(repository, ours, commit)
    if conflicts:
        return "", conflicts
    if not tree:
        raise Unavailable("to make commits anew git 2.38 or newer is needed")
    if tree == repository.tree_of(onto):
        return "", ()
    return _anew(repository, commit, tree, onto), ()


def moved_over(repository: Repository, branch: str, old: str, new: str) -> str:
    """Move a task's branch from `old` to `new`, and keep what was there on a ref; return why not, if not.

    Raises:
        Refused: one of them is no hash of a commit.
        Unavailable: git cannot do it now.

    """
    ref = f"refs/heads/{branch}"
    tip = repository.commit_of(ref)
    if tip == checked_commit(new):
        return ""
    if tip != checked_commit(old):
        return f"{branch} is at {tip[:10] or 'no commit'} by now, and was at {old[:10]}"
    if not repository.commit_of(new):
        return f"there is no commit {new}"
    if user := repository.user_of(branch):
        return f"{branch} is checked out in {user}: switch to another branch there"
    kept = f"refs/tasks/{branch}/rebased/at-{old}"
    try:
        if not repository.is_ancestor(old, new) and not repository.commit_of(kept):
            repository.move(kept, old, "", "rebased")
        repository.move(ref, new, old, "rebased")
    except Moved as error:
        return str(error)
    return ""


def _anew(repository: Repository, commit: str, tree: str, parent: str) -> str:
    """Return a commit with the author, date and message of another one."""
    said = repository.git.ask("show", "--no-patch", "--date=raw", "--format=%an%x00%ae%x00%ad%x00%B", commit)
    *author, message = said.split("\0", 3)
    variables = {**repository.git.variables, **dict(zip(_AUTHOR, author, strict=True))}
    by_author = replace(repository, git=replace(repository.git, variables=variables))
    return by_author.record(tree, parent, message)
