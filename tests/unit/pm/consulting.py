"""Shared by the tests of consultations."""

from __future__ import annotations

from typing import Any

from orchestrator.model.consultation import PMAction as A
from orchestrator.model.handoff import Verdict
from orchestrator.model.plan import StepState
from orchestrator.model.run import Exit
from orchestrator.model.task import TaskState
from orchestrator.pm.plan.readiness import may_be_ordered
from tests.unit.pm.story import MET, Story, plan_of

CRASH = Exit(code=1)


def led(**config: Any) -> Story:
    return Story(pm="command", **config)


def planned(*subtasks: str) -> Story:
    """Tell a story up to the consultation that follows the plan."""
    story = led()
    story.starts()
    story.is_led(A.ORDER, "explore")
    story.does("explore")
    story.is_led(A.ORDER, "plan")
    plan = story.comes_alive("plan")
    story.at += 60
    story.reports("plan", subtasks=plan_of(*subtasks))
    story.ends(run=plan)
    return story


def finish(story: Story) -> None:
    """Let the PM order whatever is ready, one after the other, until the task is complete."""
    for _ in range(60):
        if story.task() is TaskState.COMPLETE:
            return
        if story.state.consultation.step:
            ready = [step for step in story.states() if story.states()[step] is StepState.PENDING]
            story.is_led(A.ORDER if ready else A.COMPLETE, _first_ready(story))
        for run in story.state.live_runs:
            said: dict[str, Any] = {}
            if run.agent in {"test", "review"}:
                said = {"criteria": MET} if run.step == "accept" else {"verdict": Verdict.APPROVED}
            story.does(run.step, **said)


def _first_ready(story: Story) -> str:
    step = story.state.steps.first(may_be_ordered(story.state))
    return step.id if step else ""
