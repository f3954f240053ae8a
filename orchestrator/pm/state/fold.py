"""How changes alter the state of a task (law 3)."""

from __future__ import annotations

from functools import reduce
from typing import Final, TypeVar

from orchestrator.model.actions import Action
from orchestrator.model.budget import Worked
from orchestrator.model.consultation import ConsultationState
from orchestrator.model.file_operations import OperationsRecord
from orchestrator.model.quick_replace import replace
from orchestrator.model.run import Life
from orchestrator.model.task import TaskState
from orchestrator.pm.state import changes as c
from orchestrator.pm.state.consultation_changes import (
    ConsultationChange,
    after_step,
    consultation_after,
    with_order,
    without_order,
)
from orchestrator.pm.state.handoff_changes import HandoffRecorded, RoleStatusRecorded
from orchestrator.pm.state.order_names import second_of
from orchestrator.pm.state.persistent_map import PersistentMap
from orchestrator.pm.state.questions import Questions
from orchestrator.pm.state.run_changes import RunBelieved, RunChange, RunOpened, run_after
from orchestrator.pm.state.runs import Runs
from orchestrator.pm.state.step_changes import StepAdded, StepChange, StepOrdered
from orchestrator.pm.state.step_fold import step_after
from orchestrator.pm.state.steps import Steps
from orchestrator.pm.state.task_state import PMState
from orchestrator.pm.state.transitions import PHASES, TASKS, IllegalMove
from orchestrator.pm.state.workflow_changes import (
    AgentRecorded,
    EscalationMoved,
    HandedIn,
    Judged,
    PlanAdapted,
    WorkflowChange,
)

NOTICES_KEPT: Final = 50
OPERATIONS_KEPT: Final = 100
REQUESTS_KEPT: Final = 1000

K = TypeVar("K")
V = TypeVar("V")


def fold(state: PMState, change: c.Change) -> PMState:
    """Return the state after one change.

    Raises:
        IllegalMove: the change is in no table of `pm.transitions`; the state is as it was.

    """
    if isinstance(change, RunOpened | RunChange):
        return _fold_run(state, change)
    if isinstance(change, StepAdded | StepChange):
        return _fold_step(state, change)
    if isinstance(change, ConsultationChange):
        return replace(state, consultation=consultation_after(state.consultation, change))
    if isinstance(change, c.WordChange):
        return _fold_words(state, change)
    if isinstance(change, c.NoteChange):
        return _fold_notes(state, change)
    if isinstance(change, WorkflowChange):
        return _fold_workflow(state, change)
    if isinstance(change, HandoffRecorded):
        return replace(state, handoffs=_with_entry(state.handoffs, change.id, change.record))
    if isinstance(change, RoleStatusRecorded):
        return replace(state, role_statuses=_with_entry(state.role_statuses, change.agent, change.record))
    if isinstance(change, c.BranchChange):
        return _fold_branch(state, change)
    if isinstance(change, c.TimesShifted):
        return _shifted(state, change.by, change.put)
    if isinstance(change, c.ZoneSet):
        return replace(state, utc_offset=change.utc_offset)
    return _fold_task(state, change)


def with_action(state: PMState, action: Action) -> PMState:
    """Return the state with one more action in its outbox."""
    return replace(state, outbox=_with_entry(state.outbox, action.id, action))


def _fold_run(state: PMState, change: RunOpened | RunChange) -> PMState:
    if isinstance(change, RunOpened):
        runs = state.runs.with_run(change.run)
        return replace(state, runs=runs, worked=_worked(state, change.run.opened_at))
    runs = state.runs.with_run(run_after(state.runs[change.run], change))
    if isinstance(change, RunBelieved) and change.life is Life.GONE:
        return replace(state, runs=runs, worked=_worked(state, change.at))
    return replace(state, runs=runs)


def _fold_step(state: PMState, change: StepAdded | StepChange) -> PMState:
    if isinstance(change, StepAdded):
        # A step that is planned anew is not the one that was ordered.
        consultation = without_order(state.consultation, change.step.id)
        return replace(state, steps=state.steps.with_step(change.step), consultation=consultation)
    was = state.steps[change.step]
    now = step_after(was, change)
    consultation = after_step(state.consultation, now, was)
    if isinstance(change, StepOrdered):
        consultation = with_order(consultation, now.id)
    return replace(state, steps=state.steps.with_step(now), consultation=consultation)


def _fold_words(state: PMState, change: c.WordChange) -> PMState:
    match change:
        case c.OrderGiven(order=order):
            orders = _with_entry(state.orders, order.name, order)
            return replace(state, orders=orders, order_second=second_of(order, state.utc_offset))
        case c.OrderClosed():
            return replace(state, orders=_without(state.orders, change.order))
        case c.QuestionAsked(question=question):
            return replace(state, questions=state.questions.with_question(question))
        case c.QuestionAnswered():
            was = state.questions[change.question]
            answered = replace(was, answer=change.text, answered_at=change.at, by=change.by)
            return replace(state, questions=state.questions.with_question(answered))


def _fold_notes(state: PMState, change: c.NoteChange) -> PMState:
    match change:
        case c.HandoffSeen():
            spoke = state.spoke.with_entry(change.name, change.run) if change.run else state.spoke
            return replace(state, seen=state.seen.with_entry(change.name, change.sha256), spoke=spoke)
        case c.OperationsRecorded(record=record):
            return _operated(state, record)
        case c.OperationsUndone(runs=runs, at=at):
            records = [replace(each, undone=at) if each.run in runs else each for each in state.operations]
            return _undone(replace(state, operations=tuple(records)), runs)
        case c.RequestAcknowledged():
            return replace(state, requests=(*state.requests, change.request)[-REQUESTS_KEPT:])
        case c.Noticed():
            noticed = max(state.noticed, len(state.notices)) + 1
            return replace(state, notices=(*state.notices, change.text)[-NOTICES_KEPT:], noticed=noticed)
        case c.ActionClosed():
            return replace(state, outbox=_without(state.outbox, change.action))


def _fold_workflow(state: PMState, change: WorkflowChange) -> PMState:
    match change:
        case AgentRecorded():
            return replace(state, records=_with_entry(state.records, change.agent, change.record))
        case PlanAdapted():
            brief = replace(state.brief, workflow=change.plan)
            was = (state.brief.workflow,) if state.brief.workflow else ()
            adaptations = (*state.adaptations, change.record)
            return replace(state, brief=brief, adaptations=adaptations, plans=(*state.plans, *was))
        case EscalationMoved(case=case):
            return replace(state, cases=_with_entry(state.cases, str(case.number), case))
        case HandedIn(made=made):
            known = (*state.handed_in.get(made.agent, ()), made)
            return replace(state, handed_in=_with_entry(state.handed_in, made.agent, known))
        case Judged(verdict=verdict):
            said = (*state.verdicts.get(verdict.agent, ()), verdict)
            return replace(state, verdicts=_with_entry(state.verdicts, verdict.agent, said))


def _fold_task(state: PMState, change: c.TaskChange) -> PMState:
    match change:
        case c.TaskBegun():
            return _begun(change)
        case c.TaskMoved():
            return _moved(state, change)
        case c.PhaseMoved():
            return _phased(state, change)
        case c.BriefTaken():
            return _briefed(state, change)
        case c.ConfigEdited():
            return replace(state, edited=change.changes)
        case c.SkillsFound():
            return replace(state, skills=change.skills)
        case c.CriteriaMarked():
            return replace(state, criteria=change.marks)
        case c.RuleGiven():
            return replace(state, rules=(*state.rules, change.rule))
        case c.BudgetWarned():
            return replace(state, warned=(*state.warned, change.measure))
        case c.BudgetRaised():
            return _raised(state, change)


def _raised(state: PMState, change: c.BudgetRaised) -> PMState:
    warned = tuple(each for each in state.warned if each is not change.measure)
    raised = _with_entry(state.raised, change.measure.value, change.most)
    return replace(state, raised=raised, warned=warned)


def _begun(change: c.TaskBegun) -> PMState:
    return PMState(
        id=change.id,
        name=change.name,
        project=change.project,
        brief=change.brief,
        agents=change.agents,
        base=change.base,
        state=TaskState.RUNNING,
        started_at=change.at,
        moved_at=change.at,
        worked=Worked(since=change.at),
        seen=PersistentMap(change.seen),
        links=change.links,
    )


def _phased(state: PMState, change: c.PhaseMoved) -> PMState:
    if change.to not in PHASES[state.phase]:
        raise IllegalMove(f"phase: {state.phase} to {change.to}")
    return replace(state, phase=change.to)


def _moved(state: PMState, change: c.TaskMoved) -> PMState:
    if change.to not in TASKS[state.state]:
        raise IllegalMove(f"task: {state.state} to {change.to}")
    worked = state.worked
    if state.state is TaskState.RUNNING:
        worked = worked.rested(change.at, busy=bool(state.runs.live))
    if change.to is TaskState.RUNNING:
        worked = replace(worked, since=change.at)
    # A task that goes on looks at its branch again before it ends.
    tended = 0 if change.to is TaskState.RUNNING else state.tended
    return replace(state, state=change.to, why=change.why, moved_at=change.at, worked=worked, tended=tended)


def _operated(state: PMState, record: OperationsRecord) -> PMState:
    """Return a state with one more record; of the oldest ones it keeps which run of which step can be undone."""
    records, operated = (*state.operations, record), state.operated
    for old in records[:-OPERATIONS_KEPT]:
        run = state.runs.get(old.run)
        if run is not None and old.done and not old.undone:
            operated = operated.with_entry(run.step, (*operated.get(run.step, ()), run.id))
    return replace(state, operations=records[-OPERATIONS_KEPT:], operated=operated)


def _undone(state: PMState, runs: tuple[str, ...]) -> PMState:
    """Return a state in which the operations of some runs cannot be undone any more."""
    operated = state.operated
    for step in {state.runs[run].step for run in runs if run in state.runs} & set(operated):
        operated = operated.with_entry(step, tuple(run for run in operated[step] if run not in runs))
    return state if operated is state.operated else replace(state, operated=operated)


def _briefed(state: PMState, change: c.BriefTaken) -> PMState:
    limits = state.brief.config.limits
    agents, base = change.agents or state.agents, change.base or state.base
    old = state.brief.goal
    before = old if old and old != change.brief.goal else state.goal_before
    state = replace(state, brief=change.brief, agents=agents, base=base, goal_before=before)
    return state if change.brief.config.limits == limits else replace(state, raised={}, warned=())


def _fold_branch(state: PMState, change: c.BranchChange) -> PMState:
    """Return the state with the branch where it is now, or with each step's commits as they are on a new base."""
    if isinstance(change, c.BranchPlaced):
        tip, tended = change.tip or state.tip, change.runs or state.tended
        return replace(state, tip=tip, tended=tended, astray=change.astray)
    moved = [replace(state.steps[step], commit=commit) for step, commit in change.commits.items()]
    return replace(state, base=change.base, steps=reduce(Steps.with_step, moved, state.steps))


def _worked(state: PMState, at: float) -> Worked:
    """Return how long the task was at work, as another run begins or ends."""
    if state.state is not TaskState.RUNNING:
        return state.worked
    return state.worked.counted(at, busy=bool(state.runs.live))


def _shifted(state: PMState, by: float, put: float) -> PMState:
    """Return the state with all timers moved `by` seconds later, and the deadlines for people by `put` seconds."""
    runs = [
        replace(
            run,
            opened_at=run.opened_at + by,
            since=run.since + by,
            progress_at=run.progress_at + by,
            uncounted=max(0.0, run.uncounted + by),
            looked_at=run.looked_at + by if run.looked_at else 0.0,
            watched_at=run.watched_at + by if run.watched_at else 0.0,
            ending_at=run.ending_at + by if run.ending_at else 0.0,
            turn_since=run.turn_since + by if run.turn_since else 0.0,
            event_at=run.event_at + by if run.event_at else 0.0,
            screen_changed_at=run.screen_changed_at + by if run.screen_changed_at else 0.0,
            said_at=run.said_at + by if run.said_at else 0.0,
            recorded_at=run.recorded_at + by if run.recorded_at else 0.0,
            novel_at=run.novel_at + by if run.novel_at else 0.0,
            returned_at=run.returned_at + by if run.returned_at else 0.0,
            cautioned_at=run.cautioned_at + by if run.cautioned_at else 0.0,
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
        consultation=_consultation_shifted(state.consultation, by),
        worked=replace(state.worked, since=state.worked.since + by) if state.worked.since else state.worked,
    )


def _consultation_shifted(was: ConsultationState, by: float) -> ConsultationState:
    return replace(
        was,
        opened_at=was.opened_at + by if was.step else was.opened_at,
        held_until=was.held_until + by if was.held_until else 0.0,
    )


def _with_entry(table: dict[K, V], key: K, value: V) -> dict[K, V]:
    return {**table, key: value}


def _without(table: dict[K, V], key: K) -> dict[K, V]:
    return {k: v for k, v in table.items() if k != key}
