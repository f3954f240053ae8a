"""What holds for every state of a task, whatever happened: the laws that simulations and properties check."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from orchestrator.model.actions import (
    Answer,
    Commit,
    End,
    Inspect,
    Launch,
    Look,
    Merge,
    Notify,
    Nudge,
    Rebase,
    ResolveEvidence,
    TendBranch,
)
from orchestrator.model.budget import Measure
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Life, Purpose
from orchestrator.model.task import TaskState
from orchestrator.pm.handlers.deadlines import wake_at
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.plan.work_location import is_judge
from orchestrator.pm.policies.budget import budget_of, used
from orchestrator.pm.state.results import shortfalls
from orchestrator.pm.state.usage_limits import outlasts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Step
    from orchestrator.model.question import Question
    from orchestrator.pm.state.task_state import PMState


def broken_laws(state: PMState, limits: Limits, at: float) -> list[str]:
    """Return every law that a state breaks when a turn is over at a moment; an empty list if it is well."""
    return [*lasting_laws(state, limits), *overdue(state, limits, at), *overspent(state, limits, at)]


def lasting_laws(state: PMState, limits: Limits) -> list[str]:
    """Return every law that a state breaks whatever the time is, in the middle of a turn as well."""
    return [
        *_orders(state),
        *_runs(state, limits),
        *_steps(state, limits),
        *_outbox(state),
        *_task(state, limits),
        *_consultations(state),
        *_boxes(state),
    ]


def overdue(state: PMState, limits: Limits, at: float) -> list[str]:
    """Return the law that a state breaks if something in it is due at a moment, and the turn is over."""
    moment = wake_at(state, limits) if state.state in ACTIVE else None
    if moment is None or moment > at:
        return []
    return [f"a deadline at {moment} is over and was not acted on"]


def overspent(state: PMState, limits: Limits, at: float) -> list[str]:
    """Return each run that goes on though its task has used what it may, the turn being over at a moment."""
    budget = budget_of(state, limits)
    most = {each: limit for each in Measure if (limit := budget.of(each)) is not None}
    if state.state not in ACTIVE or not any(used(state, each, at) >= limit for each, limit in most.items()):
        return []
    if all(step.settled for step in state.steps.values()):
        return []
    going = [run for run in state.live_runs if run.ending is Ending.NOT and run.reported_at is None]
    return [f"run {run.id} goes on, and the task has used what it may" for run in going]


def _orders(state: PMState) -> Iterator[str]:
    runs = Counter(order.run for order in state.orders.values())
    yield from (f"run {run} has {times} open orders" for run, times in runs.items() if times > 1)
    for name, order in state.orders.items():
        run = state.runs.get(order.run)
        if run is None or not run.live or run.order != name or run.purpose is not Purpose.WORK:
            yield f"order {name} is open, and no live run has it"
    names = Counter(run.order for run in state.runs.values() if run.order)
    yield from (
        f"the order name {name} was given {times} times" for name, times in names.items() if times > 1
    )


def _runs(state: PMState, limits: Limits) -> Iterator[str]:
    live = state.live_runs
    if len(live) > limits.max_concurrent_runs:
        yield f"{len(live)} runs are live at once"
    for what, told in (
        ("step", [run.step for run in live]),
        ("instance", [run.instance for run in live]),
        ("workspace", [(state.steps[run.step].kind, state.steps[run.step].workspace) for run in live]),
    ):
        yield from (
            f"{times} live runs share the {what} {each}" for each, times in Counter(told).items() if times > 1
        )
    for run in live:
        step = state.steps[run.step]
        idle = step.attempt != run.attempt or step.state is not StepState.WORKING
        if idle and run.reported_at is None and run.ending is Ending.NOT:
            yield f"run {run.id} works on {step.id}, which is {step.state}"
        asked = {each.run for each in state.open_questions if each.kind is QuestionKind.PERMISSION}
        if run.waits_for and run.id not in asked:
            yield f"run {run.id} waits for an answer, and nobody is asked"


def _steps(state: PMState, limits: Limits) -> Iterator[str]:
    asked = {question.step: question for question in state.open_questions}
    for step in state.steps.values():
        yield from _tally(step, limits)
        if step.limit is not None and outlasts(step.limit, limits):
            yield f"the limit of {step.id} outlasts every window, and nobody is asked"
        stands = step.state in {StepState.BLOCKED, StepState.FAILED}
        if stands and step.id not in asked and state.state in ACTIVE:
            yield f"{step.id} is {step.state}, and nobody is asked"
        if step.id in asked and not (stands or _is_asked_about(state, step, asked[step.id])):
            yield f"a question about {step.id} is open, which is {step.state}"
        if step.state is StepState.WORKING and not _is_worked_on(state, step):
            yield f"{step.id} is working without a run"
        if step.state is StepState.CHECKING and state.state in ACTIVE and not _is_checked(state, step):
            yield f"{step.id} is checking, and nothing checks it"


def _boxes(state: PMState) -> Iterator[str]:
    """One question for a box that is lost, whatever the number of its runs (law 10)."""
    asked = Counter(
        state.runs[each.run].host for each in state.open_questions if each.kind is QuestionKind.BOX
    )
    yield from (f"{times} questions about {box} are open" for box, times in asked.items() if times > 1)


def _is_asked_about(state: PMState, step: Step, question: Question) -> bool:
    """Tell whether a step may be asked about while it goes on: a dialog, leave, approval, what is lost."""
    match question.kind:
        case QuestionKind.DIALOG | QuestionKind.PERMISSION:
            run = state.runs[question.run]
            waits = bool(run.waits_for) or question.kind is QuestionKind.DIALOG
            return step.state is StepState.WORKING and run.live and run.step == step.id and waits
        case QuestionKind.BOX:
            run = state.runs[question.run]
            return run.live and run.on_box and run.life is Life.UNREACHABLE and run.step == step.id
        case QuestionKind.UNENDED:
            run = state.runs[question.run]
            return run.live and run.ending is not Ending.NOT and run.step == step.id
        case QuestionKind.PM:
            return Gate.DECISION in step.gates
        case QuestionKind.APPROVAL:
            return step.state is StepState.CHECKING
        case _:
            return False


def _tally(step: Step, limits: Limits) -> Iterator[str]:
    tally = step.tally
    for what, count, most in (
        ("rejected", tally.rejections, limits.max_rejections),
        ("blocked", tally.blocks, limits.max_blocks),
        ("crashed", tally.crashes, limits.max_crashes + 1),
        ("lost", tally.losses, limits.max_losses + 1),
        ("not launched", tally.launches, limits.max_failed_launches),
        ("asked again", tally.asks, limits.max_report_requests),
        ("silent", tally.silences, limits.max_inactive_runs),
        ("planned anew", tally.replans, limits.max_replans),
        ("overloaded", tally.overloads, limits.max_overloads + 1),
        ("full", tally.contexts, limits.max_context_overflows + 1),
        ("stalled", tally.stalls, limits.max_stalls + 1),
        ("begun afresh", tally.fresh, limits.max_fresh_starts),
        ("judging again", tally.rejudged, limits.max_repeated_judgements),
    ):
        if count > most:
            yield f"{step.id} was {what} {count} times, and {most} is the bound"


def _is_worked_on(state: PMState, step: Step) -> bool:
    return any(
        run.step == step.id and run.attempt == step.attempt and run.reported_at is None
        for run in state.live_runs
    )


def _is_checked(state: PMState, step: Step) -> bool:
    return (
        any(
            isinstance(action, Commit | Inspect | ResolveEvidence | TendBranch | Merge)
            and (action.step, action.attempt) == (step.id, step.attempt)
            for action in state.outbox.values()
        )
        or any(each.judges == step.id and not each.settled for each in state.steps.values())
        # A judge waits until its run has left: then it is looked at what it has changed itself.
        or (
            is_judge(step)
            and any((run.step, run.attempt) == (step.id, step.attempt) for run in state.live_runs)
        )
        or any(each.step == step.id and each.kind is QuestionKind.APPROVAL for each in state.open_questions)
    )


def _outbox(state: PMState) -> Iterator[str]:
    for action in state.outbox.values():
        match action:
            case Launch(run=name) | End(run=name) | Look(run=name) | Nudge(run=name) | Answer(run=name):
                if not state.runs[name].live:
                    yield f"run {name} is gone, and its {action.kind} is still to be done"
            case Commit() | Inspect() | ResolveEvidence() | TendBranch() | Merge() | Rebase() | Notify():
                continue
    for run in state.live_runs:
        ends = any(isinstance(action, End) and action.run == run.id for action in state.outbox.values())
        if ends is not (run.ending is not Ending.NOT):
            yield f"run {run.id} is {'not ' if not ends else ''}to be ended, and its ending is '{run.ending}'"


def _consultations(state: PMState) -> Iterator[str]:
    consultation = state.consultation
    asks = [step.id for step in state.steps.values() if Gate.DECISION in step.gates and not step.settled]
    if asks != ([consultation.step] if consultation.step else []):
        yield f"the open consultation is '{consultation.step}', and unsettled are {asks}"
    for name in consultation.ordered:
        if state.steps[name].state is not StepState.PENDING:
            yield f"{name} is ordered to start, and is {state.steps[name].state}"


def _task(state: PMState, limits: Limits) -> Iterator[str]:
    if state.state is TaskState.COMPLETE:
        met = {mark.text for mark in state.criteria if mark.met and mark.evidence}
        yield from (f"complete, but not met: {text}" for text in state.brief.criteria if text not in met)
        yield from (
            f"complete, but {step.id} is {step.state}" for step in state.steps.values() if not step.settled
        )
        yield from (f"complete, but {run.id} lives" for run in state.live_runs)
        yield from (f"complete, but {missing}" for missing in shortfalls(state))
    if state.state not in ACTIVE:
        return
    moves = bool(state.live_runs or state.outbox) or wake_at(state, limits) is not None
    if not moves and not state.open_questions:
        yield "stuck: nothing moves and nobody is asked"
    if not moves and state.state is not TaskState.WAITING:
        yield "nothing moves, and the task does not say that it waits"
