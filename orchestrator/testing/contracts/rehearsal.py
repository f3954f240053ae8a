"""A rehearsal: the real PM leads a task whose agents, commits and merges are played, with no process and no file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from orchestrator.model import facts as f
from orchestrator.model.actions import Action, Commit, Inspect, Merge, Notify, ResolveEvidence, TendBranch
from orchestrator.model.agents import Agent
from orchestrator.model.evidence import Resolution
from orchestrator.model.handoff import CriterionMark, Report, ReportStatus, Subtask, Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.plan import Gate, Step
from orchestrator.model.run import Exit, Purpose, Run
from orchestrator.model.task import Brief
from orchestrator.pm.decide import decide
from orchestrator.pm.plan.asking import APPROVE
from orchestrator.pm.state.task_state import PMState

AT: Final = 1_764_254_100.0
TURNS: Final = 500
"""How many reports and answers a rehearsed task may take: one that needs more does not end."""

Reporter = Callable[[Step, Report], Report]
"""Adds to the report of a step what the gates of an extension want to read in it."""


def rehearse(brief: Brief, agents: Mapping[str, Agent], add: Reporter = lambda _, report: report) -> PMState:
    """Return the state in which a task ends when each agent does its part at once and the user approves of all.

    Args:
        brief: What the task asks for.
        agents: The agents that there are, by name.
        add: Completes the report of a step.

    Raises:
        AssertionError: the task came to a point from which nothing goes on, or did not end.

    """
    played = _Rehearsal(brief, agents, add)
    return played.state


class _Rehearsal:
    def __init__(self, brief: Brief, agents: Mapping[str, Agent], add: Reporter) -> None:
        self.state = PMState()
        self._add = add
        self._limits = Limits()
        self._at = AT
        self._nonces = 0
        self._feed(
            f.TaskStarted(
                AT,
                self._nonce(),
                "r1",
                "rehearsed-00000001",
                "rehearsed",
                "/project",
                brief,
                dict(agents),
                "base",
            )
        )
        for _ in range(TURNS):
            if not self._goes_on():
                return
        raise AssertionError(f"the task did not end after {TURNS} reports: {self._standing()}")

    def _goes_on(self) -> bool:
        """Have one run do its part, or one question answered. Return False when there is neither."""
        run = next((each for each in self.state.live_runs if each.purpose is Purpose.WORK), None)
        if run is not None:
            self._works(run)
            return True
        question = next(iter(self.state.open_questions), None)
        if question is not None:
            assert APPROVE in question.options, f"somebody has to be asked: {question.text}"
            self._feed(f.Answered(self._at, self._nonce(), self._nonce(), question.id, APPROVE))
            return True
        return False

    def _works(self, run: Run) -> None:
        step = self.state.steps[run.step]
        self._feed(f.RunStarted(self._at, run.id, 4711, "%1"))
        self._at += 60
        report = self._add(step, self._report(step, run))
        nonce = self._nonce()
        name = f"{run.instance}-{nonce}.md"
        self._feed(f.ReportLanded(self._at, nonce, name, nonce, run.instance, report))
        self._feed(f.RunGone(self._at, self._nonce(), run.id, Exit(code=0)))

    def _report(self, step: Step, run: Run) -> Report:
        """Return the report of an agent that did what its step asks for, by the gates that ship."""
        report = Report(ReportStatus.COMPLETE, run=run.id, in_reply_to=run.order, completed="Done.")
        if Gate.VERDICT in step.gates:
            report = replace(report, verdict=Verdict.APPROVED)
        if Gate.SUBTASKS in step.gates:
            report = replace(
                report, subtasks=(Subtask("one", "The first"), Subtask("two", "The second", needs=("one",)))
            )
        if Gate.CRITERIA in step.gates:
            evidence = ("artifacts/reviews/seen.md",)
            marks = (CriterionMark(each, met=True, evidence=evidence) for each in self.state.brief.criteria)
            report = replace(report, criteria=tuple(marks))
        return report

    def _feed(self, fact: f.Fact) -> None:
        decision = decide(self.state, fact, self._limits)
        self.state = decision.state
        for action in decision.actions:
            self._act(action)

    def _act(self, action: Action) -> None:
        at, nonce = self._at, self._nonce()
        match action:
            case Commit(step=step, attempt=attempt):
                self._feed(f.WorkCommitted(at, nonce, step, attempt, f"commit-{nonce}", 1, "", ""))
            case Merge(step=step, attempt=attempt, commit=commit):
                self._feed(f.WorkMerged(at, nonce, step, attempt, commit, ""))
            case Inspect(step=step, attempt=attempt):
                self._feed(f.WorkInspected(at, nonce, step, attempt, "/project", changed=True))
            case ResolveEvidence(step=step, attempt=attempt, references=named):
                found = tuple(Resolution(each.text, exists=True) for each in named)
                self._feed(f.EvidenceResolved(at, nonce, step, attempt, found))
            case TendBranch(id=looked, step=step, attempt=attempt):
                self._feed(f.BranchTended(at, looked, step, attempt, "tip", "tip"))
            case Notify(id=sent):
                self._feed(f.Notified(at, sent))
            case _:
                return

    def _nonce(self) -> str:
        self._nonces += 1
        return f"n{self._nonces}"

    def _standing(self) -> str:
        return ", ".join(f"{step.id} {step.state}" for step in self.state.steps.values())
