"""What a step's gates have seen, told from the facts alone: no step passes on less (H10, law 6)."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.model import facts as f
from orchestrator.model.actions import Merge
from orchestrator.model.consultation import PMDecision
from orchestrator.model.handoff import Report, Verdict
from orchestrator.model.plan import Gate, Step, StepState
from orchestrator.model.question import QuestionKind
from orchestrator.pm.plan.asking import APPROVE
from orchestrator.pm.state.consultation_changes import DecisionTaken
from orchestrator.pm.state.draft import Decision
from orchestrator.pm.state.step_changes import StepMoved, StepReported
from orchestrator.pm.state.task_state import PMState

Attempt = tuple[str, int]


@dataclass
class Evidence:
    """Keeps the outcome of each gate by step and attempt."""

    reports: dict[Attempt, Report] = field(default_factory=dict)
    checks: dict[Attempt, int] = field(default_factory=dict)
    committed: set[Attempt] = field(default_factory=set)
    commits: dict[Attempt, str] = field(default_factory=dict)
    merged: set[Attempt] = field(default_factory=set)
    inspected: dict[Attempt, bool | None] = field(default_factory=dict)
    resolved: dict[Attempt, set[str]] = field(default_factory=dict)
    asked_for: set[Attempt] = field(default_factory=set)
    decided: set[str] = field(default_factory=set)

    def missing_for(self, was: PMState, fact: f.Fact, decision: Decision) -> list[str]:
        """Take note of a fact, and return what is missing for the steps that a decision lets pass."""
        self._note(was, fact, decision)
        broken = []
        for change in decision.changes:
            if (
                isinstance(change, StepMoved)
                and change.to is StepState.PASSED
                and not isinstance(fact, f.Answered)
            ):
                broken += self._lacks(decision.state, decision.state.steps[change.step])
        for action in decision.actions:
            if isinstance(action, Merge):
                broken += self._unapproved(decision.state, action)
        return broken

    def _note(self, was: PMState, fact: f.Fact, decision: Decision) -> None:
        match fact:
            case f.ReportLanded(report=Report() as report):
                for change in decision.changes:
                    if isinstance(change, StepReported):
                        self.reports[change.step, was.steps[change.step].attempt] = report
            case f.DecisionLanded(decision=PMDecision()):
                self.decided |= {each.step for each in decision.changes if isinstance(each, DecisionTaken)}
            case f.RunGone(run=run) if run in was.runs and was.runs[run].live and fact.exit.code is not None:
                step = was.runs[run].step
                if was.runs[run].purpose == "check":
                    self.checks[step, was.runs[run].attempt] = fact.exit.code
            case f.WorkCommitted(step=step, attempt=attempt, reason="", left=""):
                self.committed.add((step, attempt))
                if fact.commit:
                    self.commits[step, attempt] = fact.commit
            case f.WorkInspected(step=step, attempt=attempt, reason=""):
                self.inspected[step, attempt] = fact.changed
            case f.EvidenceResolved(step=step, attempt=attempt, reason=""):
                exist = {each.reference for each in fact.found if each.exists}
                self.resolved.setdefault((step, attempt), set()).update(exist)
            case f.WorkMerged(step=step, attempt=attempt, reason=""):
                self.merged.add((step, attempt))
            case _:
                return

    def _lacks(self, state: PMState, step: Step) -> list[str]:  # noqa: C901, PLR0912 (a case per gate)
        key = (step.id, step.attempt)
        if Gate.DECISION in step.gates:
            return [] if step.id in self.decided else [f"{step.id} passed without a decision"]
        if step.only_check:
            return []
        report = self.reports.get(key)
        if report is None:
            return [f"{step.id} passed without a report"]
        broken = []
        for gate in step.gates:
            holds = True
            match gate:
                case Gate.VERDICT:
                    holds = report.verdict is Verdict.APPROVED
                case Gate.CHECK:
                    passed = not self.checks.get(key) or step.check_as_before
                    holds = passed and (not state.agents[step.agent].check or key in self.checks)
                case Gate.SUBTASKS:
                    holds = report.subtasks is not None or any(
                        each.subtask == "all" for each in state.steps.values()
                    )
                case Gate.CRITERIA:
                    known = self.resolved.get(key, set()) | {step.id for step in state.steps.values()}
                    holds = all(mark.met and known.issuperset(mark.evidence) for mark in state.criteria)
                    holds = holds and all(mark.evidence for mark in state.criteria)
                case Gate.COMMIT:
                    holds = key in self.committed and bool(self.commits.get(key) or report.unchanged)
                case Gate.CHANGED:
                    holds = key in self.inspected
                    holds = holds and (self.inspected[key] is not False or bool(report.unchanged))
                case Gate.MERGED:
                    holds = key in self.merged or not self._commit(state, step)
                case Gate.APPROVED:
                    holds = any(
                        (each.step, each.kind) == (step.id, QuestionKind.APPROVAL)
                        and each.answer.strip().lower() == APPROVE
                        for each in state.questions.values()
                    )
                case _:
                    holds = False
            if not holds:
                broken.append(f"{step.id} passed without its gate {gate}")
        judges = state.steps.among(state.steps.judges_of(step.id))
        if any(not judge.needs and judge.state is StepState.PENDING for judge in judges):
            broken.append(f"{step.id} passed, and the review that was asked for is still to come")
        return broken

    def _commit(self, state: PMState, step: Step) -> str:
        doer = state.steps[step.judges] if step.judges else step
        return self.commits.get((doer.id, doer.attempt), "")

    def _unapproved(self, state: PMState, action: Merge) -> list[str]:
        step = state.steps[action.step]
        report = self.reports.get((step.id, action.attempt))
        if Gate.VERDICT in step.gates and (report is None or report.verdict is not Verdict.APPROVED):
            return [f"the work that {step.id} judges is merged without its approval"]
        if action.commit != self._commit(state, step):
            return [f"{action.commit} is merged for {step.id}, which was not committed for it"]
        return []
