"""What benchmarks measure must exist: one that cannot be measured says so only to those who run it."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.cli.main import main
from orchestrator.model.task import WorkspaceKind
from tests.benchmarks import dependents, verbs
from tests.benchmarks.deciding import Plan


@pytest.mark.parametrize("chained", [True, False])
def test_plan_that_is_decided_gets_half_way(chained):
    plan = Plan(4, chained=chained)
    passed = {step.id for step in plan.state.steps.values() if step.state == "passed"}
    assert {"dev:s0", "test:s0", "review:s0", "dev:s1", "test:s1", "review:s1"} <= passed
    assert plan.run.step.endswith((":s2", ":s3"))


def test_every_verb_is_measured():
    assert verbs.unmeasured() == set()


@pytest.mark.parametrize("where", [WorkspaceKind.READ_ONLY, WorkspaceKind.WORKTREE])
def test_design_whose_turns_are_measured_is_sound(where, tmp_path, monkeypatch):
    """The check of designs refuses none of it, and each turn lets as many agents run as are measured."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(tmp_path / "state"))
    plan = dependents.plan_of(2, 3, where)
    dependents.lay_down(tmp_path, plan, "sleep 3600")
    assert main(["workflow", "check", "measure", "--project", str(tmp_path)]) == 0
    assert [len(dependents.dependents(plan, f"hub_{turn}")) for turn in range(3)] == [3, 3, 0]


@pytest.mark.parametrize("script", ["bench", "test"])
def test_measured_commands_keep_what_they_compiled(script):
    """Where the variable is set, each command compiled anew all that it imports: half of a short one's time."""
    text = (Path(__file__).parents[2] / "scripts" / script).read_text()
    assert "\nunset PYTHONDONTWRITEBYTECODE\n" in text
