"""Deciding, which is pure, and the journal line that follows."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from orchestrator.daemon.journal.store import Journal
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.actions import Inspect
from orchestrator.model.agents import Agent, Role
from orchestrator.model.facts import Fact, ReportLanded, RunGone, RunStarted, TaskStarted, WorkInspected
from orchestrator.model.handoff import Report, ReportStatus, Subtask, Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.run import Exit, Run
from orchestrator.model.task import Brief, Config, WorkspaceKind
from orchestrator.pm.decide import decide
from orchestrator.pm.state.draft import Decision
from orchestrator.pm.state.task_state import PMState
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.row import Of, Reach, Row

AT = 1_764_254_100.0
SUBTASKS = (33, 333, 999)
"""With explore, plan, the last review and three steps each: 102, 1,002 and 3,000 steps."""

FLAT = 1.5

PROGRESS = Report(ReportStatus.IN_PROGRESS, completed="Part of the work is under way.")
DONE = Report(ReportStatus.COMPLETE, completed="Done.", verdict=Verdict.APPROVED)
REJECTED = Report(ReportStatus.COMPLETE, completed="Not yet.", verdict=Verdict.REJECTED)

_LIMITS = Limits()
_ROLES = (Role.EXPLORE, Role.PLAN, Role.DEV, Role.TEST, Role.REVIEW)


class Plan:
    """A task under way: facts go in one after the other."""

    def __init__(self, subtasks: int, *, chained: bool) -> None:
        self.state = PMState()
        self._number = 0
        ordered = [
            Subtask(f"s{n}", f"Do part {n}", needs=(f"s{n - 1}",) if n and chained else ())
            for n in range(subtasks)
        ]
        self.take(started())
        self.through(Report(ReportStatus.COMPLETE, completed="Looked."))
        self.through(Report(ReportStatus.COMPLETE, completed="Planned.", subtasks=tuple(ordered)))
        for _ in range(subtasks // 2 * 3):
            self.through(DONE)

    def take(self, fact: Fact) -> Decision:
        """Decide a fact, and what came of the looks into the tree that this asked for: each changed something."""
        decision = decide(self.state, fact, _LIMITS)
        self.state = decision.state
        for action in decision.actions:
            if isinstance(action, Inspect):
                seen = WorkInspected(self.at, action.id, action.step, action.attempt, "/", changed=True)
                self.state = decide(self.state, seen, _LIMITS).state
        return decision

    def through(self, report: Report) -> None:
        """Let the agent that is at work report and go."""
        self.take(RunStarted(self.at, self.run.id, 4711, "%1"))
        self.take(self.landed(report))
        self.take(self.gone())

    @property
    def run(self) -> Run:
        return self.state.live_runs[-1]

    @property
    def at(self) -> float:
        self._number += 1
        return AT + self._number

    def landed(self, report: Report) -> ReportLanded:
        reported = replace(report, run=self.run.id)
        number = self._number
        name = f"{self.run.instance}-20260101-{number:06}.md"
        return ReportLanded(self.at, f"nonce {number}", name, f"{number:064x}", self.run.instance, reported)

    def gone(self) -> RunGone:
        return RunGone(self.at, f"gone {self._number}", self.run.id, Exit(code=0))


def rows(bench: Bench) -> Iterator[Row]:
    for chained in (True, False):
        bench.progress.show("going through half of each plan")
        plans = [Plan(subtasks, chained=chained) for subtasks in SUBTASKS]
        how = "in a chain" if chained else "independent"
        yield from compared(bench, f"progress, {how}", plans, lambda plan: plan.landed(PROGRESS))
        for plan in plans:
            plan.take(RunStarted(plan.at, plan.run.id, 4711, "%1"))
            plan.take(plan.landed(DONE))
        yield from compared(bench, f"the next launch, {how}", plans, Plan.gone)
        for plan in plans:
            plan.take(plan.gone())
        yield from compared(bench, f"a rejection, {how}", plans, lambda plan: plan.landed(REJECTED))
    yield journal_row(bench, plans[0], PROGRESS)


def compared(bench: Bench, what: str, plans: list[Plan], fact: Callable[[Plan], Fact]) -> Iterator[Row]:
    """Measure one kind of fact half-way through each plan; the states stay as they are."""
    measured: list[list[float]] = [[] for _ in plans]
    for _ in bench.times(200, what):
        for plan, taken in zip(plans, measured, strict=True):
            news = fact(plan)
            watch = Stopwatch()
            decision = decide(plan.state, news, _LIMITS)
            taken.append(watch.ms * 1000)
            if decision.empty:
                raise RuntimeError(f"nothing was decided on {news}")
    floor_is = f"the same with {len(plans[0].state.steps)} steps"
    for plan, taken in zip(plans[1:], measured[1:], strict=True):
        reported = f"decide: {what}, {len(plan.state.steps):,} steps"
        yield Row(reported, "µs", taken, measured[0], floor_is, Reach(Of.RATIO, FLAT), note="flat is 1")


def journal_row(bench: Bench, plan: Plan, report: Report) -> Row:
    measured, floor = list[float](), list[float]()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        files = DiskFiles()
        journal, bare = Journal(files, Path(folder, "journal")), files.open_log(Path(folder, "bare"))
        for _ in bench.times(200, "journal lines"):
            fact = plan.landed(report)
            decision = decide(plan.state, fact, _LIMITS)
            watch = Stopwatch()
            line = journal.append(fact, decision)
            measured.append(watch.ms)
            watch = Stopwatch()
            bare.append(line.encode() + b"\n")
            floor.append(watch.ms)
        journal.close()
        bare.close()
    return Row("journal: one line", "ms", measured, floor, "the same bytes appended, fsynced")


def started() -> TaskStarted:
    config = Config(workspace=WorkspaceKind.SHARED)
    brief = Brief("Measure", "Know how long it takes.", ("It was measured",), config)
    agents = {role.value: Agent(role.value, role, command=("true",)) for role in _ROLES}
    return TaskStarted(time.time(), "begin", "request", "measure-0a1b2c3d", "measure", "/", brief, agents)
