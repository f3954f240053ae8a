"""The evidence for each gate of a step, collected from the facts alone: no step passes without it (H10, law 6)."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.formats.coordination.completeness import lacking
from orchestrator.model import facts as f
from orchestrator.model.actions import Merge
from orchestrator.model.consultation import PMDecision
from orchestrator.model.handoff import Report, ReportStatus, Verdict
from orchestrator.model.plan import Gate, Step, StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.task import Recheck
from orchestrator.pm.plan.asking import ACCEPT, APPROVE
from orchestrator.pm.plan.handing_on import OPEN
from orchestrator.pm.state.consultation_changes import DecisionTaken
from orchestrator.pm.state.draft import Decision
from orchestrator.pm.state.step_changes import StepCommitted, StepMoved, StepReopened, StepReported
from orchestrator.pm.state.task_state import PMState
from tests.simulation.engine.law import Finding, Law

Attempt = tuple[str, int]


@dataclass
class Evidence:
    """The outcome of each gate, by step and attempt.

    `untested` is what work still lacks, by its step, since it was put upon what others merged: the checks and verdicts
    of its judges.
    """

    reports: dict[Attempt, Report] = field(default_factory=dict)
    checks: dict[Attempt, int] = field(default_factory=dict)
    committed: set[Attempt] = field(default_factory=set)
    commits: dict[Attempt, str] = field(default_factory=dict)
    merged: set[Attempt] = field(default_factory=set)
    inspected: dict[Attempt, bool | None] = field(default_factory=dict)
    resolved: dict[Attempt, set[str]] = field(default_factory=dict)
    asked_for: set[Attempt] = field(default_factory=set)
    decided: set[str] = field(default_factory=set)
    untested: dict[str, set[tuple[str, str]]] = field(default_factory=dict)

    def missing_for(self, was: PMState, fact: f.Fact, decision: Decision) -> list[Finding]:
        """Note a fact, and return what is missing for the steps that pass by this decision."""
        self._note(was, fact, decision)
        broken = list[Finding]()
        for change in decision.changes:
            if (
                isinstance(change, StepMoved)
                and change.to is StepState.PASSED
                and not isinstance(fact, f.Answered)
            ):
                step = decision.state.steps[change.step]
                if step.state is not StepState.PASSED:  # it was asked something else at once
                    step = was.steps.get(change.step, step)
                broken += self._lacks(decision.state, step)
        for action in decision.actions:
            if isinstance(action, Merge):
                broken += self._unapproved(decision.state, action)
        return broken

    def _note(self, was: PMState, fact: f.Fact, decision: Decision) -> None:
        match fact:
            case f.ReportLanded(report=Report() as report):
                self._note_report(was, report, decision)
            case f.DecisionLanded(decision=PMDecision()):
                self.decided |= {each.step for each in decision.changes if isinstance(each, DecisionTaken)}
            case f.RunGone(run=run) if run in was.runs and was.runs[run].live and fact.exit.code is not None:
                step = was.runs[run].step
                if was.runs[run].purpose == "check":
                    self.checks[step, was.runs[run].attempt] = fact.exit.code
                    if not fact.exit.code:
                        self._tested(was, "check", step)
            case f.WorkInspected(step=step, attempt=attempt, reason=""):
                self.inspected[step, attempt] = fact.changed
            case f.EvidenceResolved(step=step, attempt=attempt, reason=""):
                exist = {each.reference for each in fact.found if each.exists}
                self.resolved.setdefault((step, attempt), set()).update(exist)
            case f.WorkCommitted() | f.WorkMerged():
                self._note_work(was, fact, decision)
            case _:
                return

    def _note_report(self, was: PMState, report: Report, decision: Decision) -> None:
        for change in decision.changes:
            if isinstance(change, StepReported):
                self.reports[change.step, was.steps[change.step].attempt] = report
                if report.verdict is Verdict.APPROVED:
                    self._tested(was, "verdict", change.step)

    def _note_work(self, was: PMState, fact: f.WorkCommitted | f.WorkMerged, decision: Decision) -> None:
        key = (fact.step, fact.attempt)
        match fact:
            case f.WorkCommitted(reason="", left="", conflicts=(), unresolved=()):
                self.committed.add(key)
                if fact.commit:
                    self.commits[key] = fact.commit
            case f.WorkMerged(reason="", conflicts=(), onto=""):
                self.merged.add(key)
            case f.WorkMerged(reason="", conflicts=()):
                self._put_upon(was, fact, decision)
            case _:
                return

    def _put_upon(self, was: PMState, fact: f.WorkMerged, decision: Decision) -> None:
        """Note what must be tested again of work that was put upon what others merged."""
        if not decision.changes or fact.step not in was.steps:
            return
        work = was.steps[was.steps[fact.step].judges or fact.step]
        if not any(isinstance(each, StepCommitted) for each in decision.changes):
            return
        self.commits[work.id, work.attempt] = fact.commit
        judges = [each for each in was.steps.values() if each.judges == work.id and each.needs]
        checks = [each for each in judges if was.agents[each.agent].check and Gate.CHECK in each.gates]
        lacks = set[tuple[str, str]]()
        if fact.both or was.brief.config.recheck is Recheck.ALWAYS:
            lacks |= {("check", each.id) for each in checks}
        if not fact.same or (fact.both and not checks):
            lacks |= {("verdict", each.id) for each in judges}
        self.untested[work.id] = lacks
        for change in decision.changes:
            if isinstance(change, StepReopened) and change.recheck:
                self.reports[change.step, change.attempt] = self.reports[change.step, change.attempt - 1]

    def _tested(self, was: PMState, what: str, judge: str) -> None:
        self.untested.get(was.steps[judge].judges, set()).discard((what, judge))

    def _lacks(self, state: PMState, step: Step) -> list[Finding]:  # noqa: C901, PLR0912 (a case per gate)
        key = (step.id, step.attempt)
        if Gate.DECISION in step.gates:
            return (
                [] if step.id in self.decided else [Finding(Law.GATE, f"{step.id} passed without a decision")]
            )
        if step.only_check:
            return []
        report = self.reports.get(key)
        if report is None and Gate.CHECKPOINT in step.gates:
            return []  # nothing was left to judge; of what it judged, `workflow_laws` holds each pass
        if report is None and Gate.JOINT in step.gates:
            report = Report(ReportStatus.COMPLETE)  # it was given at the checkpoint
        if report is None:
            return [Finding(Law.GATE, f"{step.id} passed without a report")]
        broken = list[Finding]()
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
                    holds = holds or _accepted(state, step.id)
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
                case Gate.HANDOFF:
                    made = [each.handoff for each in state.handoffs.values() if each.step == step.id]
                    holds = bool(made) and made[-1].head.status in OPEN and not lacking(made[-1])
                case Gate.NOTES | Gate.OUTPUTS | Gate.POC | Gate.JOINT | Gate.CHECKPOINT | Gate.RESOLUTION:
                    continue  # `workflow_laws` holds them, by what the agents really left
                case Gate.MEMORY:
                    continue  # and `skill_laws` this one
                case _:
                    holds = False
            if not holds:
                broken.append(Finding(Law.GATE, f"{step.id} passed without its gate {gate}"))
        judges = state.steps.among(state.steps.judges_of(step.id))
        if any(not judge.needs and judge.state is StepState.PENDING for judge in judges):
            broken.append(
                Finding(Law.GATE, f"{step.id} passed, and the review that was asked for is still to come")
            )
        return broken

    def _commit(self, state: PMState, step: Step) -> str:
        doer = state.steps[step.judges] if step.judges else step
        return self.commits.get((doer.id, doer.attempt), "")

    def _unapproved(self, state: PMState, action: Merge) -> list[Finding]:
        step = state.steps[action.step]
        report = self.reports.get((step.id, action.attempt))
        if Gate.VERDICT in step.gates and (report is None or report.verdict is not Verdict.APPROVED):
            return [Finding(Law.GATE, f"the work that {step.id} judges is merged without its approval")]
        if lacks := self.untested.get(step.judges or step.id):
            return [Finding(Law.GATE, f"the work that {step.id} judges is merged, and lacks {sorted(lacks)}")]
        if action.commit != self._commit(state, step):
            return [
                Finding(Law.GATE, f"{action.commit} is merged for {step.id}, which was not committed for it")
            ]
        return []


def _accepted(state: PMState, step: str) -> bool:
    """Return whether the user accepted criteria that are not met."""
    return any(
        (each.step, each.kind) == (step, QuestionKind.CRITERIA) and each.answer.strip().lower() == ACCEPT
        for each in state.questions.values()
    )
