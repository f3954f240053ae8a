"""Where a step may write."""

from __future__ import annotations

from enum import StrEnum


class WorkspaceKind(StrEnum):
    """Where a step may write."""

    READ_ONLY = "read_only"  # a look at the tip of the task's branch
    SHARED = "shared"  # the user's own tree; only where the task says so
    WORKTREE = "worktree"  # a tree of its own on a branch of the task
