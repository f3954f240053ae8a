"""The laws that hold for every state of a task. Simulations and property tests check them."""

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
    Undo,
)
from orchestrator.model.budget import Measure
from orchestrator.model.limits import bounded
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
from tests.simulation.engine.law import Finding, Law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Step
    from orchestrator.model.question import Question
    from orchestrator.pm.state.task_state import PMState


def broken_laws(state: PMState, limits: Limits, at: float) -> list[Finding]:
    """Return every law that a state breaks at the end of a turn; an empty list if it breaks none."""
    return [*lasting_laws(state, limits), *overdue(state, limits, at), *overspent(state, limits, at)]


def lasting_laws(state: PMState, limits: Limits) -> list[Finding]:
    """Return every law that a state breaks regardless of the time, also in the middle of a turn."""
    return [
        *_orders(state),
        *_runs(state, limits),
        *_steps(state, limits),
        *_outbox(state),
        *_task(state, limits),
        *_consultations(state),
        *_boxes(state),
    ]


def overdue(state: PMState, limits: Limits, at: float) -> list[Finding]:
    """Return the law that a state breaks if something in it is still due at the end of a turn."""
    moment = wake_at(state, limits) if state.state in ACTIVE else None
    if moment is None or moment > at:
        return []
    return [Finding(Law.DEADLINE, f"a deadline at {moment} has passed without effect")]


def overspent(state: PMState, limits: Limits, at: float) -> list[Finding]:
    """Return each run that goes on at the end of a turn although the task has used up its budget."""
    budget = budget_of(state, limits)
    most = {each: limit for each in Measure if (limit := budget.of(each)) is not None}
    if state.state not in ACTIVE or not any(used(state, each, at) >= limit for each, limit in most.items()):
        return []
    if all(step.settled for step in state.steps.values()):
        return []
    going = [run for run in state.live_runs if run.ending is Ending.NOT and run.reported_at is None]
    return [
        Finding(Law.BUDGET, f"run {run.id} goes on, and the budget of the task is used up") for run in going
    ]


def _orders(state: PMState) -> Iterator[Finding]:
    runs = Counter(order.run for order in state.orders.values())
    yield from (
        Finding(Law.ONE_ORDER, f"run {run} has {times} open orders")
        for run, times in runs.items()
        if times > 1
    )
    for name, order in state.orders.items():
        run = state.runs.get(order.run)
        if run is None or not run.live or run.order != name or run.purpose is not Purpose.WORK:
            yield Finding(Law.CONSISTENT, f"order {name} is open, and no live run has it")
    names = Counter(run.order for run in state.runs.values() if run.order)
    yield from (
        Finding(Law.ONE_ORDER, f"the order name {name} was given {times} times")
        for name, times in names.items()
        if times > 1
    )


def _runs(state: PMState, limits: Limits) -> Iterator[Finding]:
    live = state.live_runs
    if len(live) > limits.max_concurrent_runs:
        yield Finding(Law.BOUND, f"{len(live)} runs are live at once")
    for what, shared in (
        ("step", [run.step for run in live]),
        ("instance", [run.instance for run in live]),
        ("workspace", [(state.steps[run.step].kind, state.steps[run.step].workspace) for run in live]),
    ):
        yield from (
            Finding(Law.ONE_WRITER, f"{times} live runs share the {what} {each}")
            for each, times in Counter(shared).items()
            if times > 1
        )
    for run in live:
        step = state.steps[run.step]
        idle = step.attempt != run.attempt or step.state is not StepState.WORKING
        if idle and run.reported_at is None and run.ending is Ending.NOT:
            yield Finding(Law.CONSISTENT, f"run {run.id} works on {step.id}, which is {step.state}")
        asked = {each.run for each in state.open_questions if each.kind is QuestionKind.PERMISSION}
        if run.waits_for and run.id not in asked:
            yield Finding(Law.ASKED, f"run {run.id} waits for an answer, and no question is open")


def _steps(state: PMState, limits: Limits) -> Iterator[Finding]:
    asked = {question.step: question for question in state.open_questions}
    escalated = {case.step for case in state.cases.values() if case.open}  # others than the user answer it
    for step in state.steps.values():
        yield from _tally(step, limits)
        if step.limit is not None and outlasts(step.limit, limits):
            yield Finding(Law.ASKED, f"the limit of {step.id} outlasts every window, and no question is open")
        stands = step.state in {StepState.BLOCKED, StepState.FAILED}
        if stands and step.id not in asked and step.id not in escalated and state.state in ACTIVE:
            yield Finding(Law.ASKED, f"{step.id} is {step.state}, and no question is open")
        if step.id in asked and not (stands or _is_asked_about(state, step, asked[step.id])):
            yield Finding(Law.CONSISTENT, f"a question about {step.id} is open, which is {step.state}")
        if step.state is StepState.WORKING and not _is_worked_on(state, step):
            yield Finding(Law.CONSISTENT, f"{step.id} is working without a run")
        if step.state is StepState.CHECKING and state.state in ACTIVE and not _is_checked(state, step):
            yield Finding(Law.CONSISTENT, f"{step.id} is checking, and nothing checks it")


def _boxes(state: PMState) -> Iterator[Finding]:
    """A lost box has one question, however many runs it has (law 10)."""
    asked = Counter(
        state.runs[each.run].host for each in state.open_questions if each.kind is QuestionKind.BOX
    )
    yield from (
        Finding(Law.ASKED_ONCE, f"{times} questions about {box} are open")
        for box, times in asked.items()
        if times > 1
    )


def _is_asked_about(state: PMState, step: Step, question: Question) -> bool:
    """Return whether a question about a step may be open while the step goes on."""
    match question.kind:
        case QuestionKind.DIALOG | QuestionKind.PERMISSION:
            run = state.runs[question.run]
            waits = bool(run.waits_for) or question.kind is QuestionKind.DIALOG
            return step.state is StepState.WORKING and run.live and run.step == step.id and waits
        case QuestionKind.BOX:
            run = state.runs[question.run]
            return run.live and run.on_box and run.life is Life.UNREACHABLE and run.step == step.id
        case QuestionKind.TERMINATION:
            run = state.runs[question.run]
            return run.live and run.ending is not Ending.NOT and run.step == step.id
        case QuestionKind.PM:
            return Gate.DECISION in step.gates
        case QuestionKind.APPROVAL:
            return step.state is StepState.CHECKING
        case _:
            return False


def _tally(step: Step, limits: Limits) -> Iterator[Finding]:
    tally, limits = step.tally, bounded(limits, step.bounds)
    for what, count, most in (
        ("rejected", tally.rejections, limits.max_rejections),
        ("blocked", tally.blocks, limits.max_blocks),
        ("crashed", tally.crashes, limits.max_crashes + 1),
        ("lost", tally.losses, limits.max_losses + 1),
        ("not launched", tally.launches, limits.max_failed_launches),
        ("asked again", tally.asks, limits.max_report_requests),
        ("silent", tally.silences, limits.max_inactive_runs),
        ("planned anew", tally.replans, limits.max_replans),
        ("overloaded", tally.overloads, _most_overloads(limits)),
        ("full", tally.contexts, limits.max_context_overflows + 1),
        ("stalled", tally.stalls, limits.max_stalls + 1),
        ("begun afresh", tally.fresh, limits.max_fresh_starts),
        ("judging again", tally.rejudged, limits.max_repeated_judgements),
        ("in conflict", tally.conflicts, limits.max_conflicts + 1),
    ):
        if count > most:
            yield Finding(Law.BOUND, f"{step.id} was {what} {count} times, and {most} is the bound")


def _most_overloads(limits: Limits) -> float:
    """Return how often a service can be found overloaded until that has lasted for so long that a person is asked."""
    return limits.max_overloads + 1 + limits.overload_window / max(1.0, limits.overload_pause)


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
        or (bool(step.queued_at) and _is_in_turn(state, step))
        or _has_a_checkpoint(state, step)
    )


def _has_a_checkpoint(state: PMState, step: Step) -> bool:
    """Return whether a step waits for its verdict, and a checkpoint that is not over will give it."""
    ahead = (each for each in state.steps.values() if Gate.CHECKPOINT in each.gates and not each.settled)
    return Gate.JOINT in step.gates and not step.approved and any(step.judges in each.after for each in ahead)


def _is_in_turn(state: PMState, step: Step) -> bool:
    """Tell whether a step waits rightly to have work merged: for others ahead of it, or for its own work's judges."""

    def stands(other: Step) -> bool:
        work = other.judges or other.id
        chain = [each for each in state.steps.values() if work in {each.id, each.judges}]
        return any(
            each.state in {StepState.BLOCKED, StepState.FAILED}
            or (each.state is StepState.PENDING and each.not_before)
            for each in chain
        )

    merging = any(isinstance(action, Merge) for action in state.outbox.values())
    ahead = [
        other
        for other in state.steps.values()
        if other.queued_at and other.id != step.id and other.queued_at <= step.queued_at and not stands(other)
    ]
    judged = all(state.steps[need].state is StepState.PASSED for need in step.needs)
    tree = (step.kind, step.workspace)
    seen = [run.step for run in state.live_runs]
    seen += [action.step for action in state.outbox.values() if isinstance(action, Inspect)]
    busy = any((state.steps[each].kind, state.steps[each].workspace) == tree for each in seen)
    return merging or bool(ahead) or stands(step) or not judged or (step.behind and busy)


def _outbox(state: PMState) -> Iterator[Finding]:
    for action in state.outbox.values():
        match action:
            case Launch(run=name) | End(run=name) | Look(run=name) | Nudge(run=name) | Answer(run=name):
                if not state.runs[name].live:
                    yield Finding(
                        Law.CONSISTENT, f"run {name} is gone, and its {action.kind} is still to be done"
                    )
            case Commit() | Inspect() | ResolveEvidence() | TendBranch() | Merge() | Rebase() | Undo():
                continue
            case Notify():
                continue
    for run in state.live_runs:
        ends = any(isinstance(action, End) and action.run == run.id for action in state.outbox.values())
        if ends is not (run.ending is not Ending.NOT):
            yield Finding(
                Law.CONSISTENT,
                f"run {run.id} is {'not ' if not ends else ''}to be ended, and its ending is '{run.ending}'",
            )


def _consultations(state: PMState) -> Iterator[Finding]:
    consultation = state.consultation
    asks = [step.id for step in state.steps.values() if Gate.DECISION in step.gates and not step.settled]
    if asks != ([consultation.step] if consultation.step else []):
        yield Finding(
            Law.CONSISTENT, f"the open consultation is '{consultation.step}', and unsettled are {asks}"
        )
    asked = Counter(each.text for each in state.open_questions if each.kind is QuestionKind.PM)
    yield from (
        Finding(Law.ASKED_ONCE, f"the PM agent asks {times} times: {text}")
        for text, times in asked.items()
        if times > 1
    )
    for name in consultation.ordered:
        if state.steps[name].state is not StepState.PENDING:
            yield Finding(Law.CONSISTENT, f"{name} is ordered to start, and is {state.steps[name].state}")


def _task(state: PMState, limits: Limits) -> Iterator[Finding]:
    if state.state is TaskState.COMPLETE:
        met = {mark.text for mark in state.criteria if mark.met and mark.evidence}
        yield from (
            Finding(Law.GATE, f"complete, but not met: {text}")
            for text in state.brief.criteria
            if text not in met
        )
        yield from (
            Finding(Law.GATE, f"complete, but {step.id} is {step.state}")
            for step in state.steps.values()
            if not step.settled
        )
        yield from (Finding(Law.CONSISTENT, f"complete, but {run.id} lives") for run in state.live_runs)
        yield from (Finding(Law.GATE, f"complete, but {missing}") for missing in shortfalls(state))
    if state.state not in ACTIVE:
        return
    moves = bool(state.live_runs or state.outbox) or wake_at(state, limits) is not None
    if not moves and not state.open_questions:
        yield Finding(Law.ASKED, "stuck: nothing moves, and no question is open")
    if state.open_questions and not (moves or state.steps.unsettled):
        idle = [each.id for each in state.open_questions if each.kind is QuestionKind.PM]
        yield from (
            Finding(Law.ENDS, f"every step is settled, and {each} of the PM agent is open") for each in idle
        )
    if not moves and state.state is not TaskState.WAITING:
        yield Finding(Law.CONSISTENT, "nothing moves, and the task does not say that it waits")
