"""The gates that need only the report and the daemon's own check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.coordination.markdown import TITLES
from orchestrator.model.handoff import Subtask, Verdict
from orchestrator.pm.plan.plan_edits import edit_plan
from orchestrator.pm.policies.causes import printed
from orchestrator.pm.policies.gates.kind import PASSES, GateKind, Judgement
from orchestrator.pm.policies.retries import ask_again

if TYPE_CHECKING:
    from orchestrator.model.handoff import Report
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft


_REASONS: Final = ("Feedback", "Findings")
"""Sections under which judges give the reason for a rejection, beside Completed."""


class VerdictGate(GateKind):
    """The report says APPROVED."""

    form = "Say why you reject under `## Completed`, or under `## Feedback` or `## Findings`."
    sections = _REASONS

    def judge(self, step: Step, report: Report) -> Judgement:
        """Reject the work if the report does; have the report written again if it gives no verdict."""
        del step
        if report.verdict not in {Verdict.APPROVED, Verdict.REJECTED}:
            return Judgement(again="the line `**Verdict:** APPROVED` or `**Verdict:** REJECTED` is missing")
        return Judgement(rejected=_reason(report)) if report.verdict is Verdict.REJECTED else PASSES


class CheckGate(GateKind):
    """The command that the daemon ran before the agent exited 0, or failed just as before anything was changed.

    Then the judges decide, who see both outputs. The task is not complete as long as it fails.
    """

    def judge(self, step: Step, report: Report) -> Judgement:
        """Reject the work if its check failed, whatever the agent says, with the lines that the check printed last."""
        if not step.check_exit or step.check_as_before:
            return PASSES
        failed = f"the check that the PM ran exited {step.check_exit}{printed(step.check_lines)}"
        if report.verdict is Verdict.APPROVED:
            failed = f"{failed}\n{step.agent} approved all the same: {_reason(report)}"
        return Judgement(rejected=failed)


class SubtasksGate(GateKind):
    """The report's subtasks make a valid edit of the plan."""

    def take(self, draft: Draft, step: str, report: Report) -> bool:
        """Turn the subtasks into steps of the plan; if they are faulty, the agent is asked for them again.

        If the section is missing, the agent is asked for it once; after that the goal is the only subtask (H4).
        """
        refused = self._edited(draft, step, report)
        if refused:
            ask_again(draft, step, refused)
        return bool(refused)

    def _edited(self, draft: Draft, step: str, report: Report) -> str:
        subtasks = report.subtasks
        if subtasks is None:
            if draft.step(step).tally.asks < draft.limits_of(step).max_report_requests:
                return "the section `## Subtasks` is missing"
            subtasks = (Subtask(id="all", text=draft.state.brief.goal),)
        return edit_plan(draft, subtasks)


class HandoffGate(GateKind):
    """What the step hands on is complete: `pm.policies.role_handoffs` judges that, ahead of the other gates."""

    sections = TITLES


def _reason(report: Report) -> str:
    """Return why a judge says so: what a section of its own says comes first."""
    said = [report.section(title).strip() for title in _REASONS]
    return "\n".join(each for each in (*said, report.completed.strip()) if each) or "no reason given"
