"""What an order says: the step's instructions, what was learned, and how to know when it is done."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import Gate
from orchestrator.pm.skills import where_they_lie

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model.plan import Step
    from orchestrator.pm.state import PMState


REPORTS_NAMED: Final = 30


def order_name(second: int) -> str:
    """Return the file name of an order given in that second (HUB 4.2), in local time."""
    return f"pm-{time.strftime('%Y%m%d-%H%M%S', time.localtime(second))}.md"


def instructions_for(step: Step) -> str:
    """Return the step's instructions, followed by what its earlier attempts taught."""
    if not step.feedback:
        return step.instructions
    told = "\n\n".join(step.feedback)
    return f"{step.instructions}\n\nThis is attempt {step.attempt}. What was said of earlier ones:\n\n{told}"


def context_for(state: PMState, step: Step, skills: Sequence[str] = ()) -> str:
    """Return what an agent should know: the goal, what its step stands on, and where its skills lie."""
    lines = [f"Task: {state.brief.title}", f"Goal: {state.brief.goal}"]
    for need in (*step.needs, *step.after)[-REPORTS_NAMED:]:
        earlier = state.steps[need]
        if earlier.report:
            lines.append(f"- {need}: handoffs/{earlier.report}")
            lines += [f"  - {artifact}" for artifact in earlier.artifacts]
    if Gate.CHECK in step.gates and step.check_exit is not None:
        lines.append(f"The check that the PM ran on this work exited {step.check_exit}.")
    return "\n".join([*lines, *where_they_lie(state, skills)])


def criteria_for(state: PMState, step: Step) -> str:
    """Return how the agent knows that it is done."""
    if Gate.CRITERIA in step.gates or not step.subtask:
        return "\n".join(f"- {criterion}" for criterion in state.brief.criteria)
    return step.done_when or step.title
