"""What is shown of a task at rest follows its branch, which its user may move or delete."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.daemon.projections import task_view
from orchestrator.daemon.projections.outcome import BranchLook
from orchestrator.daemon.projections.task_view import TaskView
from orchestrator.model.task import TaskState
from orchestrator.ports.workspaces import BranchSurvey
from tests.unit.pm.story import Story

TIP = "a" * 40


@pytest.mark.parametrize(
    ("state", "now", "again"),
    [
        (TaskState.COMPLETE, TIP, 0),
        (TaskState.COMPLETE, "", 1),
        (TaskState.COMPLETE, "b" * 40, 1),
        (TaskState.COMPLETE, None, 0),  # nobody knows
        (TaskState.RUNNING, "b" * 40, 0),
    ],
)
def test_a_moved_branch_is_shown_again(
    monkeypatch: pytest.MonkeyPatch, state: TaskState, now: str | None, again: int
) -> None:
    """progress.md went on offering the merge of a branch that was deleted, until the next check-in."""
    shown: list[int] = []
    seen = BranchSurvey(TIP, 1, (), 1, 1, 0, merged=False)
    writer: Any = SimpleNamespace(looked=BranchLook(1.0, seen), again=lambda: shown.append(1))
    engine: Any = SimpleNamespace(state=replace(Story().state, state=state, base="c" * 40))
    context: Any = None
    view = TaskView(context, Path("/home"), engine)
    view._writer = writer
    monkeypatch.setattr(task_view, "commit_of", lambda *_: now)
    view.see_branch()
    assert len(shown) == again
