"""Counts what the lines of a journal do: nothing twice, nothing too early, no empty decision."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.model import facts as f
from orchestrator.model.actions import Answer, Launch, Merge
from orchestrator.model.event import CAUTION
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Life
from orchestrator.pm.state import changes as c
from orchestrator.pm.state.run_changes import RunBelieved, RunEnding, RunOpened, RunReported
from orchestrator.pm.state.step_changes import StepHurried, StepTallied, TreeBegun
from tests.simulation.engine.evidence import Evidence
from tests.simulation.engine.law import Finding, Law

if TYPE_CHECKING:
    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Tally
    from orchestrator.pm.state.draft import Decision
    from orchestrator.pm.state.task_state import PMState


@dataclass(slots=True)
class Ledger:
    """Counts by run, question or handoff.

    silenced: the runs that were ended for inactivity. stalled: those whose model did not answer. declared_gone: those
    that are gone. Their reader empties these three. tree_since: for each step the attempt with which the life of its
    worktree began; later attempts continued the work there.
    """

    limits: Limits
    facts: Counter[str] = field(default_factory=Counter)
    reported: Counter[str] = field(default_factory=Counter)
    opened: Counter[str] = field(default_factory=Counter)
    alive: set[str] = field(default_factory=set)
    launched: Counter[str] = field(default_factory=Counter)
    cautioned: Counter[str] = field(default_factory=Counter)
    taken: Counter[tuple[str, str]] = field(default_factory=Counter)
    ambiguous: set[tuple[str, str]] = field(default_factory=set)
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    merges: set[str] = field(default_factory=set)
    silenced: list[str] = field(default_factory=list)
    stalled: list[str] = field(default_factory=list)
    declared_gone: list[str] = field(default_factory=list)
    tree_since: dict[str, int] = field(default_factory=dict)
    _pauses: dict[str, float] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)

    def enter(self, was: PMState, fact: f.Fact, decision: Decision) -> list[Finding]:
        """Enter a line, and return the laws that it breaks."""
        self.facts[fact.kind] += 1
        found = self.evidence.missing_for(was, fact, decision)
        if not decision.changes and not decision.actions:
            found.append(Finding(Law.NO_EMPTY_LINE, "it changed nothing and was journaled"))
        found += self._handoffs(was, fact)
        match fact:
            case f.Answered() | f.TaskStarted() | f.ClockMoved() | f.SpawnAsked() | f.BriefChanged():
                self._pauses.clear()
            case _:
                pass
        asked = {
            question.step: question.id
            for question in was.open_questions
            if question.kind is not QuestionKind.TERMINATION  # that is about a run
        }
        for change in decision.changes:
            if isinstance(change, TreeBegun):
                self.tree_since[change.step] = decision.state.steps[change.step].attempt
            found += self._entered(was, fact, change) + _asked_already(asked, was, change)
        for action in decision.actions:
            if isinstance(action, Launch):
                found += _again(self.launched, action.run, "launched", Law.ONE_LIFE)
            if isinstance(action, Answer) and action.name == CAUTION:
                found += _again(self.cautioned, action.run, "cautioned", Law.CAUTIONED_ONCE)
            if isinstance(action, Merge):
                self.merges.add(action.commit)
        return found

    def _handoffs(self, was: PMState, fact: f.Fact) -> list[Finding]:
        """Note the handoffs of a fact. Each is accepted once."""
        match fact:
            case f.ReportLanded(name=name, sha256=digest):
                if _is_ambiguous(was, fact):
                    self.ambiguous.add((name, digest))
                return _again(self.taken, (name, digest), "accepted", Law.ACCEPTED_ONCE)
            case f.DecisionLanded(name=name, sha256=digest):
                return _again(self.taken, (name, digest), "accepted", Law.ACCEPTED_ONCE)
            case f.Intruded(name=name, sha256=digest, others=others):
                return [
                    finding
                    for each in ((name, digest), *others)
                    for finding in _again(self.taken, each, "accepted", Law.ACCEPTED_ONCE)
                ]
            case _:
                return []

    def _entered(self, was: PMState, fact: f.Fact, change: c.Change) -> list[Finding]:
        match change:
            case RunReported(run=run):
                return _again(self.reported, run, "reported", Law.ACCEPTED_ONCE)
            case RunOpened(run=opened):
                early = self._pauses.pop(opened.step, 0.0) - fact.at
                broken = (
                    [Finding(Law.PAUSE, f"{opened.step} was tried again {early:.1f} s too early")]
                    if early > 0
                    else []
                )
                return broken + _again(self.opened, opened.id, "opened", Law.ONE_LIFE)
            case RunBelieved(run=run, life=Life.ALIVE):
                self.alive.add(run)
            case RunBelieved(run=run, life=Life.GONE):
                self.declared_gone.append(run)
                if was.runs[run].life is Life.UNREACHABLE and not isinstance(
                    fact, f.Answered | f.LaunchFailed
                ):
                    return [Finding(Law.NOT_UNREACHABLE, f"{run} was declared gone while its box is lost")]
            case StepTallied(step=step, tally=tally):
                self._pauses[step] = fact.at + self._pause(was.steps[step].tally, tally)
            case StepHurried(step=step):
                self._pauses.pop(step, None)
            case RunEnding(run=run, ending=Ending.SILENT):
                self.silenced.append(run)
            case RunEnding(run=run, ending=Ending.STALLED):
                self.stalled.append(run)
            case c.QuestionAsked(question=question):
                return _again(self.asked, question.id, "asked", Law.ASKED_ONCE)
            case c.QuestionAnswered(question=answered):
                return _again(self.answered, answered, "answered", Law.ASKED_ONCE)
            case _:
                pass
        return []

    def _pause(self, was: Tally, now: Tally) -> float:
        """Return how long a step must pause after a run died: longer each time."""
        counted = ((was.crashes, now.crashes), (was.losses, now.losses), (was.launches, now.launches))
        times = max(count if count > before else 0 for before, count in counted)
        return min(self.limits.retry_pause * 4 ** (times - 1), self.limits.max_retry_pause) if times else 0.0


def _again(counts: Counter[Any], key: object, what: str, law: Law) -> list[Finding]:
    """Count something that may be done only once."""
    counts[key] += 1
    return [Finding(law, f"{key} was {what} {counts[key]} times")] if counts[key] > 1 else []


def _asked_already(asked: dict[str, str], was: PMState, change: c.Change) -> list[Finding]:
    """A step has at most one open question (law 10)."""
    if isinstance(change, c.QuestionAnswered) and change.question in was.questions:
        asked.pop(was.questions[change.question].step, None)
    if isinstance(change, c.QuestionAsked):
        other = asked.setdefault(change.question.step, change.question.id)
        if other != change.question.id:
            return [
                Finding(
                    Law.ASKED_ONCE, f"{other} about '{change.question.step}' is open, and one more is asked"
                )
            ]
    return []


def _is_ambiguous(was: PMState, fact: f.ReportLanded) -> bool:
    """Return whether a report names no run, and several instances of its agent were at work: it counts for none."""
    named = fact.report.run if fact.report else None
    waiting = [was.runs[order.run] for order in was.orders.values()]
    return not named and sum(fact.instance in {run.instance, run.agent} for run in waiting) > 1
