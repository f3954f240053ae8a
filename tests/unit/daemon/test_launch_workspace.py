"""The folder that a run works in begins where the PM left the task's branch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.daemon.actions import launch_workspace
from orchestrator.daemon.actions.launch_workspace import prepared_workspace
from orchestrator.daemon.core.task_paths import TaskPaths
from orchestrator.model.facts import EditsRefused, Fact
from tests.unit.pm.story import Story

TIP, OLD = "a" * 40, "b" * 40
WHERE = TaskPaths(Path("/code"), Path("/home"), Path("/code/tasks/demo"), Path("/trees"))


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (("", TIP), "was deleted"),
        ((OLD, TIP), "was set back"),
        ((TIP, TIP), ""),
        ((OLD, OLD), ""),  # ahead, or checked out by its user
        ((None, None), ""),  # not known
    ],
)
def test_a_branch_that_is_put_back_is_told(
    monkeypatch: pytest.MonkeyPatch, seen: tuple[str | None, str | None], told: str
) -> None:
    """A deleted branch was made again without a word."""
    adapters: Any = None
    looks, facts = iter(seen), list[Fact]()
    monkeypatch.setattr(launch_workspace, "commit_of", lambda *_: next(looks))
    monkeypatch.setattr(launch_workspace, "_prepared", lambda *_: WHERE.trees)
    story = Story().planned("a")
    state, run = replace(story.state, tip=TIP), story.run_of("dev:a")
    step = state.steps["dev:a"]
    assert prepared_workspace(adapters, state, step, run, WHERE, facts.append) == WHERE.trees
    said = [edit for fact in facts if isinstance(fact, EditsRefused) for edit in fact.edits]
    assert [told in each for each in said] == [True] * bool(told)
