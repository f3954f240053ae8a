"""What is said of a task that is over when its task.md asks for more than was judged."""

import os

import pytest

from orchestrator import layout
from orchestrator.cli.task_branch import lacking
from tests.unit.cli.conftest import AT

BRIEF = """# Task: Tidy

## Goal
Take away what can be.

## Success Criteria
- No test fails
{}"""
FRESH = "- zzz.py exists\n"


def edited(house, more: str, at: float = AT + 60, **other: object) -> dict[str, object]:
    """Write a task that is over, and a task.md that was saved at a moment."""
    house.task(**{"state": "complete", **other})
    path = layout.task_brief(layout.task_folder(house.project, "tidy"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(BRIEF.format(more), encoding="utf-8")
    os.utime(path, (at, at))
    view: dict[str, object] = house.state_json(**{"state": "complete", **other})
    return view


def test_criterion_that_came_after_the_end_is_said(house, task):
    view = edited(house, FRESH)
    said = task("status", "tidy").out
    assert "task.md   was edited since the end, and nobody has judged: zzz.py exists" in said
    assert "task start tidy" in said
    assert any("nobody has judged: zzz.py exists" in each for each in lacking(view)), "merge has to say so"
    assert "nobody has judged: zzz.py exists" in task("report", "tidy", "--md").out
    assert "nobody has judged: zzz.py exists" in task("status", "tidy", "--json").json["asked_since"]


@pytest.mark.parametrize(
    ("more", "at", "state"),
    [("", AT + 60, "complete"), (FRESH, AT - 86_400, "complete"), (FRESH, AT + 60, "running")],
    ids=["same criteria", "saved before the end", "at work"],
)
def test_task_md_that_asks_for_no_more_is_not_mentioned(house, task, more, at, state):
    edited(house, more, at, state=state)
    assert "nobody has judged" not in task("status", "tidy").out


@pytest.mark.parametrize(("state", "since"), [("complete", "the end"), ("stopped", "it came to rest")])
def test_another_goal_is_said(house, task, state, since):
    """A goal that was edited after the end, or while the task was stopped, was taken for the one that was reached."""
    edited(house, "", state=state, goal="Leave all as it is.")
    assert (
        f"task.md   was edited since {since}, and its goal is another one now" in task("status", "tidy").out
    )


def test_task_md_that_does_not_read_is_left_to_the_start(house, task):
    edited(house, "## Goal\nTwice\n")
    said = task("status", "tidy")
    assert said.code == 0
    assert "nobody has judged" not in said.out
