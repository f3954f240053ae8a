"""Where the check before any change runs."""

from __future__ import annotations

import pytest

from orchestrator.formats.task_file import read_brief
from orchestrator.model.names import BASELINE
from orchestrator.model.task import WorkspaceKind
from orchestrator.pm.plan.families.delivery import first_steps

TASK = "# Task: t\n\n## Goal\nDo it\n\n## Success Criteria\n- It works\n\n## Agent Config\nruntime: claude\n"


def baseline(*config: str):
    brief = read_brief((TASK + "\n".join(("test.check: make check", *config)) + "\n").encode(), "task.md")
    return next(step for step in first_steps(brief) if step.id == BASELINE)


@pytest.mark.parametrize("workspace", ["shared", "read_only"])
def test_without_worktrees_it_runs_in_the_users_tree(workspace):
    """Such a task has no base commit: a worktree for its baseline could never be made, whatever was answered."""
    step = baseline(f"workspace: {workspace}")
    assert not step.workspace
    assert step.kind is WorkspaceKind(workspace)


def test_with_worktrees_it_has_one_of_its_own():
    assert baseline("workspace: worktree").workspace == BASELINE
