"""What an order says: the step's instructions, what was learned, and how to know when it is done."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import Gate
from orchestrator.pm.digest import digest
from orchestrator.pm.skills import where_they_lie

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Step
    from orchestrator.pm.state import PMState


REPORTS_NAMED: Final = 30


def order_name(second: int) -> str:
    """Return the file name of an order given in that second (HUB 4.2), in local time."""
    return f"pm-{time.strftime('%Y%m%d-%H%M%S', time.localtime(second))}.md"


def instructions_for(step: Step) -> str:
    """Return the step's instructions, followed by what its earlier attempts taught."""
    said = step.instructions
    if step.directive and step.directive.instructions:
        said = f"{said}\n\nThe PM adds:\n\n{step.directive.instructions}"
    if not step.feedback:
        return said
    told = "\n\n".join(step.feedback)
    return f"{said}\n\nThis is attempt {step.attempt}. What was said of earlier ones:\n\n{told}"


def context_for(state: PMState, step: Step, limits: Limits, skills: Sequence[str] = ()) -> str:
    """Return what an agent should know: the goal, what its step stands on, and where its skills lie."""
    if Gate.DECISION in step.gates:
        return digest(state, limits)
    lines = [f"Task: {state.brief.title}", f"Goal: {state.brief.goal}"]
    for need in (*step.needs, *step.after)[-REPORTS_NAMED:]:
        earlier = state.steps[need]
        if earlier.report:
            lines.append(f"- {need}: handoffs/{earlier.report}")
            lines += [f"  - {artifact}" for artifact in earlier.artifacts]
    if Gate.CHECK in step.gates and step.check_exit is not None:
        lines.append(f"The check that the PM ran on this work exited {step.check_exit}.")
    if step.directive and step.directive.context:
        lines.append(step.directive.context)
    return "\n".join([*lines, *where_they_lie(state, skills)])


def criteria_for(state: PMState, step: Step) -> str:
    """Return how the agent knows that it is done."""
    wanted = _wanted(state, step)
    more = step.directive.criteria if step.directive else ""
    return f"{wanted}\n{more}" if more else wanted


def _wanted(state: PMState, step: Step) -> str:
    if Gate.DECISION in step.gates:
        return "At least one handoff of yours with `**Action:**` and `**Run:**` lies in handoffs/."
    if Gate.CRITERIA in step.gates or not step.subtask:
        return "\n".join(f"- {criterion}" for criterion in state.brief.criteria)
    return step.done_when or step.title
