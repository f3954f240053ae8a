"""The task.md of a session: whatever the request says, it stays a part of the goal (S4)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.skill.task_text import skill_task
from orchestrator.formats.task_file import read_brief
from orchestrator.model.task import SKILLS, WorkspaceKind
from tests.unit.skill_sessions import session

CRITERION = "Every phase has ended."


@pytest.mark.parametrize("workspace", [WorkspaceKind.WORKTREE, WorkspaceKind.SHARED])
@given(
    st.one_of(
        st.text(min_size=1).filter(str.strip),
        st.lists(
            st.sampled_from(
                ["<!--", "-->", "\n", "## Agent Config", "## Success Criteria", "- it works", "```", "pm: x"]
            )
        ).map(" ".join),
    )
)
def test_request_changes_no_setting(workspace: WorkspaceKind, request: str) -> None:
    text = skill_task(replace(session(), request=request or "x"), "state/a.json", workspace, CRITERION)
    brief = read_brief(text.encode("utf-8", "replace"))
    assert brief.criteria == (CRITERION,)
    assert brief.config.written == {"family": SKILLS, "session": "state/a.json", "workspace": workspace.value}
    assert brief.goal.startswith("Carry out the composite skill develop-project for this request:")
    assert not brief.unfilled
