"""A worktree: its names and where it lies, and why work in it cannot be taken as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,127}")

_LIFE: Final = re.compile(r"[1-9][0-9]{0,8}")

_BRANCH: Final = re.compile(r"task/[a-z0-9][a-z0-9_-]{0,63}")


class TreeLost(Refused):
    """The tree in which somebody worked is not there any more as it was made: what lies there, if anything, is no work.

    `kept` is the ref that holds what was found, or empty if nothing was.
    """

    def __init__(self, reason: str, kept: str = "") -> None:
        self.reason = reason
        self.kept = kept
        super().__init__(f"{reason}; what was found there is kept as {kept}" if kept else reason)


class AtOdds(Refused):
    """Work and the task's branch changed the same lines since the work began.

    `files` are where; `others` the branch's commits of these files, as `hash subject`; `commit` holds the work, on the
    commit that it began on.
    """

    def __init__(self, files: Sequence[str], others: Sequence[str], commit: str) -> None:
        self.files = tuple(files)
        self.others = tuple(others)
        self.commit = commit
        super().__init__(
            f"the work is at odds with the task's branch in {', '.join(map(ascii, self.files[:10]))}"
        )


class Unresolved(Refused):
    """Markers of a conflict were left in `files`."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files = tuple(files)
        super().__init__(f"conflict markers are left in {', '.join(map(ascii, self.files[:10]))}")


@dataclass(frozen=True, slots=True)
class Tree:
    """One workspace of a task.

    `project` is the user's repository, `root` the folder of the task's worktrees, `name` this one's, `branch`
    the task's branch (`task/NAME`). A tree has a branch of its own while it lasts, `task-work/NAME/name`; one
    without a branch of its own (`detached`) shows the tip of `branch`. Each `life` of it lies in a folder of its own:
    nothing that an earlier one left behind can write into it.
    """

    project: Path
    root: Path
    name: str
    branch: str
    base: str
    detached: bool = False
    life: int = 1

    @property
    def path(self) -> Path:
        """Where the tree lies."""
        return self.root / (self.name if self.life <= 1 else f"{self.name}.{self.life}")

    def is_life(self, name: str) -> bool:
        """Tell whether a folder of this name beneath `root` is a life of this tree: no tree has a dot in its name."""
        head, dot, life = name.partition(".")
        return head == self.name and (not dot or bool(_LIFE.fullmatch(life)))

    @property
    def own_branch(self) -> str:
        """The branch of this tree alone."""
        return f"{self.branch.replace('task/', 'task-work/', 1)}/{self.name}"

    @property
    def keep_prefix(self) -> str:
        """What the refs begin with that keep work found in this tree."""
        return f"refs/tasks/{self.branch}/{self.name}/"


def checked_tree(tree: Tree) -> Tree:
    """Return `tree` if its names cannot lead anywhere else: its path is then beneath its root.

    Raises:
        Refused: they can.

    """
    if not _NAME.fullmatch(tree.name) or not tree.root.is_absolute() or ".." in tree.root.parts:
        raise Refused(f"{tree.name[:60]!a} in {tree.root} is not a place for a worktree")
    checked_branch(tree.branch)
    return tree


def checked_branch(branch: str) -> str:
    """Return `branch` if it is a task's: `task/NAME`. Raises Refused."""
    if not _BRANCH.fullmatch(branch):
        raise Refused(f"{branch[:80]!a} is not the branch of a task: task/NAME")
    return branch
