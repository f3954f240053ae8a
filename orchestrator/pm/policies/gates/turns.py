"""The gates of steps whose agents hand in by their files: the daemon has judged those already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.handoff import ReportStatus, Verdict
from orchestrator.model.question import QuestionKind
from orchestrator.model.turn_end import AgentRecord
from orchestrator.pm.plan.asking import ABANDON, APPROVE, SET_ASIDE, ask
from orchestrator.pm.plan.families.workflow import verify
from orchestrator.pm.policies.completion import approve
from orchestrator.pm.policies.gates.kind import PASSES, GateKind, Judgement, begin_checking
from orchestrator.pm.policies.rejections import reject
from orchestrator.pm.policies.turn_ends import NAMED, doubt, missing_said
from orchestrator.pm.state.step_changes import StepApproved

if TYPE_CHECKING:
    from orchestrator.model.handoff import Report
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


class NotesGate(GateKind):
    """The files that the agent left say that it is done, and each of its notes is resolved."""

    def judge(self, step: Step, report: Report) -> Judgement:
        """Have the agent asked again, for the reason that the daemon found in its files."""
        del step
        return Judgement(again=report.completed) if report.status is ReportStatus.IN_PROGRESS else PASSES


class OutputsGate(GateKind):
    """The outputs and the evidence that the plan names exist."""

    def judge(self, step: Step, report: Report) -> Judgement:
        """Have the agent asked again if anything is missing, whatever it claims."""
        del step
        missing = report.turn.missing if report.turn else ()
        if report.status is not ReportStatus.COMPLETE or not missing:
            return PASSES
        return Judgement(again=f"these are missing: {', '.join(missing)}")


class PocGate(GateKind):
    """The proof of concept that the step judges holds, or the user wants to go on all the same."""

    def judge(self, step: Step, report: Report) -> Judgement:
        """Have it done again if evidence is missing."""
        del step
        return Judgement(rejected=report.completed) if report.verdict is Verdict.REJECTED else PASSES

    def take(self, draft: Draft, step: str, report: Report) -> bool:
        """Take the decision to proceed for the approval; any other is the user's to make."""
        if report.verdict is Verdict.PROCEED:
            draft.change(StepApproved(step))
        return False

    def holds(self, state: PMState, step: Step) -> bool:
        """Hold the step until it may proceed."""
        del state
        return not step.approved

    def order(self, draft: Draft, step: str) -> None:
        """Ask the user, with the reason of the verifier."""
        here = draft.step(step)
        begin_checking(draft, step, "waits for the user's decision")
        judgement = draft.state.records.get(here.subtask, AgentRecord()).judgement
        wants = f"{here.agent} decided: {judgement.decision}. {judgement.rationale}" if judgement else ""
        edits = judgement.edits if judgement else ()
        named = "".join(f"\n  {each.kind} {each.agent}" for each in edits[:NAMED])
        changes = f"\nIt wants the plan changed:{named}" if named else ""
        text = (
            f"Is the proof of concept '{here.title}' good enough to go on as planned? {wants}{changes}\n"
            f"Any other answer goes back to {here.subtask}, which tries again."
        )
        ask(draft, step, text, (APPROVE, SET_ASIDE, ABANDON), QuestionKind.APPROVAL)


class JointGate(GateKind):
    """The verdict on the work that the step judges was given at a checkpoint."""

    def holds(self, state: PMState, step: Step) -> bool:
        """Hold the step until its work has passed there."""
        del state
        return not step.approved

    def order(self, draft: Draft, step: str) -> None:
        """Let it wait: the checkpoint opens by itself once all that it judges is handed in."""
        begin_checking(draft, step, "waits for its checkpoint")


class CheckpointGate(GateKind):
    """Each piece of work that the step judges has its verdict. Passes stand, whatever becomes of the others."""

    def take(self, draft: Draft, step: str, report: Report) -> bool:
        """Give each subject its verdict. One without a clear one is judged again when the checkpoint opens again."""
        for subject in report.turn.subjects if report.turn else ():
            if subject.missing:
                reject(draft, verify(subject.agent), missing_said([subject]), by=step)
            elif not doubt(draft.state, subject):
                approve(draft, verify(subject.agent))
        return False
