"""Gates: what must hold before a step passes. A claim is not evidence (law 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.model.handoff import Report, Subtask, Verdict
from orchestrator.model.plan import Gate, Step
from orchestrator.pm.plan.plan_edits import edit_plan
from orchestrator.pm.policies.causes import printed

if TYPE_CHECKING:
    from orchestrator.pm.state.draft import Draft


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the gates say of a report: it must be written again, the work is rejected, or neither."""

    again: str = ""
    rejected: str = ""


def judged(step: Step, report: Report) -> Judgement:
    """Hold a report against the gates that need nothing but the report and the daemon's own check."""
    if Gate.VERDICT not in step.gates:
        return Judgement()
    if report.verdict is None:
        return Judgement(again="the line `**Verdict:** APPROVED` or `**Verdict:** REJECTED` is missing")
    said = report.completed.strip() or "no reason given"
    failed = Gate.CHECK in step.gates and bool(step.check_exit)
    if report.verdict is Verdict.REJECTED:
        return Judgement(rejected=f"{said}\n{_check_said(step)}" if failed else said)
    if failed:
        return Judgement(rejected=f"{_check_said(step)}\n{step.agent} approved all the same: {said}")
    return Judgement()


def _check_said(step: Step) -> str:
    """Say how a step's check ended, with the lines that it printed last: whoever mends the work needs them."""
    return f"the check that the PM ran exited {step.check_exit}{printed(step.check_lines)}"


def take_subtasks(draft: Draft, step: str, report: Report) -> str:
    """Make the plan's subtasks steps of the plan. Return why not, if not.

    A report without the section is asked for it once, and then taken as one subtask: the goal (H4).
    """
    subtasks = report.subtasks
    if subtasks is None:
        if draft.step(step).tally.asks < draft.limits.max_report_requests:
            return "the section `## Subtasks` is missing"
        subtasks = (Subtask(id="all", text=draft.state.brief.goal),)
    return edit_plan(draft, subtasks)
