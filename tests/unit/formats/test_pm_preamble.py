"""What the PM agent is told when it is asked (H8, H6)."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.formats.handoff import read_decision
from orchestrator.formats.pm_preamble import pm_preamble
from orchestrator.model.consultation import PMAction

GIVEN: dict[str, Any] = {
    "agent": "pm",
    "task": "dds",
    "at": 1764286200.0,
    "cwd": "/w/pm",
    "task_dir": "/p/tasks/dds",
    "scratchpad": "/p/tasks/dds/scratchpad/pm",
    "run": "r-1",
    "order": "# Handoff: pm\n{braces} stay\n",
    "wait": 600.0,
    "patience": 90.0,
}


def form() -> str:
    return pm_preamble(**GIVEN).partition("```markdown\n")[2].partition("```\n")[0]


@pytest.mark.parametrize(("action", "target"), [("ORDER", "dev:a"), ("WAIT", "None"), ("ASK", "None")])
def test_its_form_reads_once_action_and_target_are_filled_in(action, target):
    lines = [
        f"**Action:** {action}" if line.startswith("**Action:**") else line
        for line in form().split("\n")
        if not line.startswith("- (")
    ]
    lines = [f"**Target:** {target}" if line.startswith("**Target:**") else line for line in lines]
    decision = read_decision("\n".join(lines).encode(), "pm-20251127-153000.md")
    assert (decision.action, decision.run) == (PMAction[action], "r-1")
    assert decision.target == target.removeprefix("None")
    assert decision.instructions


def test_what_was_not_filled_in_decides_nothing():
    with pytest.raises(Exception, match="Action"):
        read_decision(form().encode(), "pm-20251127-153000.md")


def test_it_names_places_bounds_and_the_order():
    text = pm_preamble(**GIVEN, definition="Lead.")
    for reported in (
        "/p/tasks/dds/progress.md",
        "and 10 minutes at the most",
        "After 1.5 minutes",
        "{braces} stay",
        "Lead.",
    ):
        assert reported in text
    assert "## Your Role" not in pm_preamble(**GIVEN)
