"""What is shown of a task at rest follows its branch, which its user may move or delete."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.daemon.core.task_paths import TaskPaths, tree_of
from orchestrator.daemon.projections import task_view
from orchestrator.daemon.projections.outcome import outcome_of
from orchestrator.daemon.projections.task_view import TaskView
from orchestrator.daemon.projections.work_done import BranchLook
from orchestrator.model.run import Exit
from orchestrator.model.task import TaskState
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.workspaces import BranchSurvey
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from tests.unit.pm.story import Story

TIP = "a" * 40


@pytest.mark.parametrize(
    ("state", "now", "again"),
    [
        (TaskState.COMPLETE, TIP, 0),
        (TaskState.COMPLETE, "", 1),
        (TaskState.COMPLETE, "b" * 40, 1),
        (TaskState.PARTIAL, "", 1),
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


def test_what_a_stopped_step_left_in_its_tree_is_named(tmp_path: Path) -> None:
    """`task status` of a stopped task said "nothing is on the branch" of an hour's work that lay in a worktree."""
    story = Story().planned("a")
    run = story.comes_alive("dev:a")
    workspaces = FakeWorkspaces()
    where = TaskPaths(tmp_path / "p", tmp_path / "pm", tmp_path / "p" / "tasks" / "demo", tmp_path / "trees")
    base = replace(story.state, base=workspaces.head(where.code))
    tree = tree_of(base, base.steps["dev:a"], where)
    assert tree is not None
    workspaces.prepare(tree, 1)
    workspaces.work(tree, "half of it", "shop.py")
    clock = SimpleNamespace(now=lambda: 5.0)
    context: Any = SimpleNamespace(clock=clock, adapters=SimpleNamespace(workspaces=workspaces))

    def work(state: PMState) -> str:
        engine: Any = SimpleNamespace(state=state)
        view = TaskView(context, tmp_path, engine)
        view._where = where
        return outcome_of(state, view._look_at_branch(state)).work

    assert "not on the branch" not in work(replace(base, state=TaskState.RUNNING))
    story.stops()
    assert "shop.py" not in work(replace(story.state, base=base.base))  # its agent is being ended
    story.ends(run=run, how=Exit(signal=15))
    said = work(replace(story.state, base=base.base))
    assert f"not on the branch yet: 1 file changed by dev:a in {tree.path}" in said
