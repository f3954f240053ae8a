"""What benchmarks measure must exist: one that cannot be measured says so only to those who run it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks import verbs
from tests.benchmarks.deciding import Plan


@pytest.mark.parametrize("chained", [True, False])
def test_plan_that_is_decided_gets_half_way(chained):
    plan = Plan(4, chained=chained)
    passed = {step.id for step in plan.state.steps.values() if step.state == "passed"}
    assert {"dev:s0", "test:s0", "review:s0", "dev:s1", "test:s1", "review:s1"} <= passed
    assert plan.run.step.endswith((":s2", ":s3"))


def test_every_verb_is_measured():
    assert verbs.unmeasured() == set()


@pytest.mark.parametrize("script", ["bench", "test"])
def test_measured_commands_keep_what_they_compiled(script):
    """Where the variable is set, each command compiled anew all that it imports: half of a short one's time."""
    text = (Path(__file__).parents[2] / "scripts" / script).read_text()
    assert "\nunset PYTHONDONTWRITEBYTECODE\n" in text
