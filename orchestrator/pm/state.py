"""The state of one task, and how changes alter it. A state is never changed in place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Final, TypeVar

from orchestrator.model.actions import Action
from orchestrator.model.agents import Agent
from orchestrator.model.budget import Measure, Worked
from orchestrator.model.consulting import Counsel
from orchestrator.model.handoff import CriterionMark, Order
from orchestrator.model.permission import Rule
from orchestrator.model.plan import Step, StepState, Tally
from orchestrator.model.question import Question
from orchestrator.model.run import Life, Run
from orchestrator.model.skills import Skill
from orchestrator.model.task import Brief, Phase, TaskState
from orchestrator.pm import changes as c
from orchestrator.pm.counsel_changes import after_step, counsel_after, with_order, without_order
from orchestrator.pm.questions import Questions
from orchestrator.pm.run_changes import run_after
from orchestrator.pm.runs import Runs
from orchestrator.pm.steps import Steps
from orchestrator.pm.tables import Table
from orchestrator.pm.transitions import PHASES, STEPS, TASKS, IllegalMove

NOTICES_KEPT: Final = 50
REQUESTS_KEPT: Final = 1000
NO_COUNSEL: Final = Counsel()

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class PMState:
    """Everything that the PM knows of one task. Tables keep the order in which things came.

    What grows with the plan is a `Table`; dictionaries hold what is open just now, and are copied whole.
    `seen` gives the hash of each handoff dealt with. `outbox` holds the actions whose outcome is not yet known.
    `raised` are the limits that the user has set anew for this task (None: no such limit), `warned` those that it
    came near to.
    """

    id: str = ""
    name: str = ""
    project: str = ""
    brief: Brief = field(default_factory=lambda: Brief(title="", goal="", criteria=()))
    agents: dict[str, Agent] = field(default_factory=dict)
    base: str = ""
    state: TaskState = TaskState.STOPPED
    why: str = ""
    phase: Phase = Phase.PLANNING
    steps: Steps = field(default_factory=Steps)
    runs: Runs = field(default_factory=Runs)
    orders: dict[str, Order] = field(default_factory=dict)
    questions: Questions = field(default_factory=Questions)
    criteria: tuple[CriterionMark, ...] = ()
    outbox: dict[str, Action] = field(default_factory=dict)
    seen: Table[str, str] = field(default_factory=Table)
    requests: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    started_at: float = 0.0
    order_second: int = 0
    skills: tuple[Skill, ...] = ()
    counsel: Counsel = NO_COUNSEL
    worked: Worked = Worked()  # noqa: RUF009 (it is frozen)
    raised: dict[str, float | None] = field(default_factory=dict)
    warned: tuple[Measure, ...] = ()

    @property
    def branch(self) -> str:
        """The task's branch in the project's repository."""
        return f"task/{self.name}"

    @property
    def live_runs(self) -> list[Run]:
        """The runs that are not known to be gone."""
        return list(self.runs.live.values())

    @property
    def open_questions(self) -> list[Question]:
        """The questions that wait for an answer."""
        return list(self.questions.open.values())


def with_entry(table: dict[K, V], key: K, value: V) -> dict[K, V]:
    """Return a copy of `table` with one entry set."""
    return {**table, key: value}


def without(table: dict[K, V], key: K) -> dict[K, V]:
    """Return a copy of `table` without one entry."""
    return {k: v for k, v in table.items() if k != key}


def fold(state: PMState, change: c.Change) -> PMState:
    """Return the state after one change.

    Raises:
        IllegalMove: the change is in no table of `pm.transitions`; the state is as it was.

    """
    match change:
        case (
            c.TaskBegun()
            | c.TaskMoved()
            | c.PhaseMoved()
            | c.BriefTaken()
            | c.SkillsFound()
            | c.CriteriaMarked()
            | c.HandoffSeen()
            | c.RequestHeard()
            | c.Noticed()
            | c.ActionClosed()
            | c.RuleGiven()
            | c.BudgetWarned()
            | c.BudgetRaised()
        ):
            return _fold_task(state, change)
        case c.TimesShifted():
            return _shifted(state, change.by, change.put)
        case c.OrderGiven() | c.OrderClosed() | c.QuestionAsked() | c.QuestionAnswered():
            return _fold_words(state, change)
        case (
            c.NewsNoted()
            | c.ConsultationOpened()
            | c.DecisionTaken()
            | c.ConsultationClosed()
            | c.CounselBegun()
        ):
            return replace(state, counsel=counsel_after(state.counsel, change))
        case c.RunOpened(run=run):
            return replace(state, runs=state.runs.with_run(run), worked=_worked(state, run.opened_at))
        case c.RunBelieved(life=Life.GONE):
            after = state.runs.with_run(run_after(state.runs[change.run], change))
            return replace(state, runs=after, worked=_worked(state, change.at))
        case (
            c.RunBelieved()
            | c.RunReported()
            | c.RunProgressed()
            | c.RunWatched()
            | c.RunLooked()
            | c.RunNudged()
            | c.RunTold()
            | c.RunAnswered()
            | c.RunDelivered()
            | c.RunSpent()
            | c.RunMetered()
            | c.RunEnding()
        ):
            return replace(state, runs=state.runs.with_run(run_after(state.runs[change.run], change)))
        case _:
            return _fold_step(state, change)


def with_action(state: PMState, action: Action) -> PMState:
    """Return the state with one more action in its outbox."""
    return replace(state, outbox=with_entry(state.outbox, action.id, action))


def _fold_task(  # noqa: C901, PLR0912 (a case per change)
    state: PMState,
    change: c.TaskBegun
    | c.TaskMoved
    | c.PhaseMoved
    | c.BriefTaken
    | c.SkillsFound
    | c.CriteriaMarked
    | c.HandoffSeen
    | c.RequestHeard
    | c.Noticed
    | c.ActionClosed
    | c.RuleGiven
    | c.BudgetWarned
    | c.BudgetRaised,
) -> PMState:
    match change:
        case c.TaskBegun():
            return PMState(
                id=change.id,
                name=change.name,
                project=change.project,
                brief=change.brief,
                agents=change.agents,
                base=change.base,
                state=TaskState.RUNNING,
                started_at=change.at,
                worked=Worked(since=change.at),
                seen=Table(change.seen),
            )
        case c.TaskMoved(to=to):
            if to not in TASKS[state.state]:
                raise IllegalMove(f"task: {state.state} to {to}")
            return replace(state, state=to, why=change.why, worked=_moved(state, to, change.at))
        case c.PhaseMoved(to=phase):
            if phase not in PHASES[state.phase]:
                raise IllegalMove(f"phase: {state.phase} to {phase}")
            return replace(state, phase=phase)
        case c.BriefTaken():
            limits = state.brief.config.limits
            agents, base = change.agents or state.agents, change.base or state.base
            state = replace(state, brief=change.brief, agents=agents, base=base)
            return state if change.brief.config.limits == limits else replace(state, raised={}, warned=())
        case c.SkillsFound():
            return replace(state, skills=change.skills)
        case c.CriteriaMarked():
            return replace(state, criteria=change.marks)
        case c.HandoffSeen():
            return replace(state, seen=state.seen.with_entry(change.name, change.sha256))
        case c.RequestHeard():
            return replace(state, requests=(*state.requests, change.request)[-REQUESTS_KEPT:])
        case c.Noticed():
            return replace(state, notices=(*state.notices, change.text)[-NOTICES_KEPT:])
        case c.ActionClosed():
            return replace(state, outbox=without(state.outbox, change.action))
        case c.RuleGiven():
            return replace(state, rules=(*state.rules, change.rule))
        case c.BudgetWarned():
            return replace(state, warned=(*state.warned, change.measure))
        case c.BudgetRaised(measure=measure):
            warned = tuple(each for each in state.warned if each is not measure)
            return replace(state, raised=with_entry(state.raised, measure.value, change.most), warned=warned)


def _worked(state: PMState, at: float) -> Worked:
    """Return how long the task was at work, as another run begins or ends."""
    if state.state is not TaskState.RUNNING:
        return state.worked
    return state.worked.counted(at, busy=bool(state.runs.live))


def _moved(state: PMState, to: TaskState, at: float) -> Worked:
    worked = state.worked
    if state.state is TaskState.RUNNING:
        worked = worked.rested(at, busy=bool(state.runs.live))
    return replace(worked, since=at) if to is TaskState.RUNNING else worked


def _shifted(state: PMState, by: float, put: float) -> PMState:
    """Return the state as if all that is timed had come `by` seconds later, and what waits for people `put`."""
    runs = [
        replace(
            run,
            opened_at=run.opened_at + by,
            since=run.since + by,
            progress_at=run.progress_at + by,
            looked_at=run.looked_at + by if run.looked_at else 0.0,
            turn_since=run.turn_since + by if run.turn_since else 0.0,
            reported_at=None if run.reported_at is None else run.reported_at + by,
        )
        for run in state.live_runs
    ]
    pausing = [
        replace(step, not_before=step.not_before + by) for step in state.steps.among(state.steps.pausing)
    ]
    awaited = [
        replace(question, deadline=question.deadline + put)
        for question in state.open_questions
        if question.deadline is not None
    ]
    return replace(
        state,
        runs=reduce(Runs.with_run, runs, state.runs),
        steps=reduce(Steps.with_step, pausing, state.steps),
        questions=reduce(Questions.with_question, awaited, state.questions),
        counsel=_counsel_shifted(state.counsel, by),
        worked=replace(state.worked, since=state.worked.since + by) if state.worked.since else state.worked,
    )


def _counsel_shifted(was: Counsel, by: float) -> Counsel:
    return replace(
        was,
        opened_at=was.opened_at + by if was.step else was.opened_at,
        held_until=was.held_until + by if was.held_until else 0.0,
    )


def _fold_words(
    state: PMState, change: c.OrderGiven | c.OrderClosed | c.QuestionAsked | c.QuestionAnswered
) -> PMState:
    match change:
        case c.OrderGiven(order=order):
            return replace(
                state, orders=with_entry(state.orders, order.name, order), order_second=int(order.at)
            )
        case c.OrderClosed():
            return replace(state, orders=without(state.orders, change.order))
        case c.QuestionAsked(question=question):
            return replace(state, questions=state.questions.with_question(question))
        case c.QuestionAnswered():
            was = state.questions[change.question]
            answered = replace(was, answer=change.text, answered_at=change.at, by=change.by)
            return replace(state, questions=state.questions.with_question(answered))


def _fold_step(  # noqa: C901, PLR0912 (a case per change)
    state: PMState,
    change: c.StepAdded
    | c.StepRewired
    | c.StepMoved
    | c.StepTallied
    | c.StepFed
    | c.StepRemembered
    | c.StepLacked
    | c.StepReopened
    | c.StepReported
    | c.StepChecked
    | c.StepApproved
    | c.StepCommitted
    | c.StepOrdered,
) -> PMState:
    if isinstance(change, c.StepAdded):
        # One that is planned anew is not what was ordered.
        counsel = without_order(state.counsel, change.step.id)
        return replace(state, steps=state.steps.with_step(change.step), counsel=counsel)
    was = state.steps[change.step]
    altered: dict[str, Any]
    match change:
        case c.StepRewired():
            altered = {"after": change.after}
        case c.StepMoved(to=to):
            if to not in STEPS[was.state]:
                raise IllegalMove(f"step {was.id}: {was.state} to {to}")
            altered = {
                "state": to,
                "since": change.at,
                "why": change.why,
                "not_before": change.not_before,
                "keep_tree": change.keep_tree,
            }
        case c.StepTallied():
            altered = {"tally": change.tally}
        case c.StepFed():
            altered = {"feedback": change.feedback}
        case c.StepRemembered():
            altered = {"blockers": change.blockers}
        case c.StepLacked():
            altered = {"gap": change.gap}
        case c.StepReopened():
            altered = _reopened(was, change)
        case c.StepReported():
            altered = {"report": change.report, "artifacts": change.artifacts}
        case c.StepChecked():
            altered = {"check_exit": change.exit}
        case c.StepApproved():
            altered = {"approved": True}
        case c.StepCommitted():
            altered = {"commit": change.commit}
        case c.StepOrdered():
            altered = {"directive": change.directive}
    now = replace(was, **altered)
    counsel = after_step(state.counsel, now, was)
    if isinstance(change, c.StepOrdered):
        counsel = with_order(counsel, now.id)
    return replace(state, steps=state.steps.with_step(now), counsel=counsel)


def _reopened(was: Step, change: c.StepReopened) -> dict[str, Any]:
    if StepState.PENDING not in STEPS[was.state] and was.state is not StepState.PENDING:
        raise IllegalMove(f"step {was.id}: {was.state} reopened")
    return {
        "state": StepState.PENDING,
        "attempt": change.attempt,
        "tally": Tally(rejections=was.tally.rejections, blocks=was.tally.blocks, replans=was.tally.replans),
        "since": change.at,
        "why": change.why,
        "not_before": 0.0,
        "keep_tree": False,
        "approved": False,
        "check_exit": None,
        "commit": "",
        "report": "",
        "artifacts": (),
        "directive": None,
    }
