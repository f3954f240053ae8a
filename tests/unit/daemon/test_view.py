"""What the scribe is told of a task, by its state."""

from __future__ import annotations

import pytest

from orchestrator.daemon.view import pm_view
from tests.unit.pm.story import Story


@pytest.mark.parametrize(("commit", "accepted"), [("c", 1), ("", 0)])
def test_work_is_accepted_once_it_is_a_commit_on_the_branch(commit: str, accepted: int) -> None:
    story = Story().planned("a", "b")
    story.commit = commit
    story.does("dev:a")
    story.approves("test:a")
    assert pm_view(story.state, 0.0).accepted == 0
    story.approves("review:a")
    assert pm_view(story.state, 0.0).accepted == accepted
