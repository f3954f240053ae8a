"""The gates of steps whose agents hand in by their files: the daemon has judged those already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.handoff import ReportStatus, Verdict
from orchestrator.model.plan import Gate
from orchestrator.model.question import QuestionKind
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow_records import PocDecision
from orchestrator.pm.plan.adaptation import Adaptation, AdaptationRefused
from orchestrator.pm.plan.asking import ABANDON, APPROVE, SET_ASIDE, ask
from orchestrator.pm.plan.families.workflow import verify
from orchestrator.pm.policies.adapting import adaptation_of, carry_out
from orchestrator.pm.policies.completion import approve
from orchestrator.pm.policies.gates.kind import PASSES, GateKind, Judgement, begin_checking
from orchestrator.pm.policies.rejections import reject
from orchestrator.pm.policies.retries import ask_again
from orchestrator.pm.policies.turn_ends import NAMED, doubt, missing_said
from orchestrator.pm.state.step_changes import StepApproved

if TYPE_CHECKING:
    from orchestrator.model.handoff import Report
    from orchestrator.model.plan import Step
    from orchestrator.model.workflow import PlanEdit
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


class MemoryGate(GateKind):
    """The memory file of the step's agent is complete: the daemon has read it when its turn ended."""

    def judge(self, step: Step, report: Report) -> Judgement:
        """Have the agent asked again, with all that its memory file lacks."""
        del step
        handed_in = report.turn is not None and bool(report.turn.outputs)
        if report.status is ReportStatus.COMPLETE and handed_in:
            return PASSES
        return Judgement(again=report.completed or "your turn is over, and your memory file is missing")


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
        """Take the decision to proceed for the approval, and adapt the plan as decided; the rest the user decides.

        Edits that lower what the user approved of wait for the user, too.
        """
        if report.verdict is Verdict.PROCEED:
            draft.change(StepApproved(step))
        edits = _edits(draft.state, draft.step(step))
        if report.verdict is not Verdict.ADAPT or not edits:
            return False
        result = adaptation_of(draft.state, edits, by_user=False)
        if isinstance(result, AdaptationRefused):
            ask_again(
                draft, step, f"the plan cannot be changed like that: {'; '.join(result.reasons[:NAMED])}"
            )
            return True
        if not result.voids:
            draft.change(StepApproved(step))
            here = draft.step(step)
            cause = f"the proof of concept {here.subtask}"
            carry_out(draft, result, edits, by=here.agent, cause=cause, by_user=False)
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
        edits = _edits(draft.state, here)
        named = "".join(f"\n  {each.kind} {each.agent}" for each in edits[:NAMED])
        changes = f"\nIt wants the plan changed, and {APPROVE} does so:{named}" if named else ""
        result = adaptation_of(draft.state, edits, by_user=False) if edits else None
        if isinstance(result, Adaptation) and result.voids:
            changes += f"\nThat lowers what you approved of: {'; '.join(result.voids)}."
        text = (
            f"Is the proof of concept '{here.title}' good enough to go on as planned? {wants}{changes}\n"
            f"Any other answer goes back to {here.subtask}, which tries again."
        )
        ask(draft, step, text, (APPROVE, SET_ASIDE, ABANDON), QuestionKind.APPROVAL)


def _edits(state: PMState, step: Step) -> tuple[PlanEdit, ...]:
    """Return the edits of the plan that the decision on a proof of concept wants."""
    judgement = state.records.get(step.subtask, AgentRecord()).judgement
    return judgement.edits if judgement and judgement.decision is PocDecision.ADAPT else ()


def adapt_as_approved(draft: Draft, step: str) -> None:
    """Make the edits that the user approved of together with a proof of concept."""
    here = draft.step(step)
    edits = _edits(draft.state, here) if Gate.POC in here.gates else ()
    if not edits:
        return
    result = adaptation_of(draft.state, edits, by_user=True)
    if isinstance(result, AdaptationRefused):
        draft.notice(f"the plan is not changed, and goes on as it is: {'; '.join(result.reasons[:NAMED])}")
    else:
        cause = f"the proof of concept {here.subtask}"
        carry_out(draft, result, edits, by="user", cause=cause, by_user=True)


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
