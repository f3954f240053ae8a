"""The user's own tree, looked at and left alone: what is checked out there, under way, and not committed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from orchestrator.workspaces.git_process import Git
    from orchestrator.workspaces.repository import Repository

_UNDER_WAY: Final = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}


@dataclass(frozen=True, slots=True)
class UserTree:
    """The tree that a project lies in.

    `top` is its folder, `branch` what is checked out (empty: nothing is, HEAD is detached), `head` its commit.
    """

    git: Git
    top: Path
    folder: Path
    branch: str
    head: str

    @classmethod
    def of(cls, repository: Repository, project: Path) -> UserTree:
        """Look at the tree of a project.

        Raises:
            Refused: it has no commit yet.
            Unavailable: git cannot be asked now, or this is no tree but a bare repository.

        """
        git = replace(repository.git, cwd=project, variables={})
        head = repository.head(project)
        said = git.ask("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir")
        top, _, folder = said.partition("\n")
        branch = git.find("symbolic-ref", "--quiet", "--short", "HEAD")
        return cls(git, Path(top), Path(folder), branch, head)

    @property
    def under_way(self) -> str:
        """What git is in the middle of here (`rebase`); empty if nothing is."""
        return next((what for name, what in _UNDER_WAY.items() if (self.folder / name).exists()), "")

    def uncommitted(self) -> frozenset[str]:
        """Return the tracked files that differ from HEAD, by their paths beneath `top`; submodules aside."""
        return frozenset(_names(self.git.ask(*_DIFF, "HEAD")))

    def untracked(self, left_out: str = "") -> frozenset[str]:
        """Return the files and folders here that git neither has nor ignores, but for one folder of the project."""
        said = self.git.ask("ls-files", "--others", "--exclude-standard", "--directory", "-z")
        others = (name for name in _names(said) if not (left_out and left_out.startswith(name)))
        return frozenset(name for name in others if not (left_out and name.startswith(left_out)))

    def staged(self) -> frozenset[str]:
        """Return the files whose change is in the index."""
        return frozenset(_names(self.git.ask(*_DIFF, "--cached", "HEAD")))

    def in_the_way(self, old: str, new: str) -> list[str]:
        """Return the files here that keep the tree from going from one commit, or tree, to another.

        They hold what is not committed and would be overwritten. An ignored file counts too: git would take it away.
        """
        changed = changed_files(self.git, old, new)
        dirty = self.uncommitted()
        there = [name for name, status in changed.items() if status == "A" and _lies(self.top / name)]
        return sorted({*(dirty & changed.keys()), *there})


_DIFF: Final = (
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--ignore-submodules=all",
    "--name-only",
    "-z",
    "--no-relative",
)


def changed_files(git: Git, old: str, new: str) -> dict[str, str]:
    """Return the files in which two commits or trees differ, each with git's letter for how (A, M, D, T)."""
    said = _names(git.ask("diff-tree", "-r", "-z", "--name-status", "--no-renames", old, new))
    return dict(zip(said[1::2], said[::2], strict=True))


def _names(said: str) -> list[str]:
    return said.split("\0")[:-1]


def _lies(path: Path) -> bool:
    try:
        path.lstat()
    except OSError:
        return False
    return True
