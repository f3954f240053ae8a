"""Nothing waits without a deadline (law 8): what is due now, and when to check next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from orchestrator.model.limits import bounded
from orchestrator.model.run import Ending, Life, Purpose, Quiet, Run
from orchestrator.pm.handlers import boxes, stuck_termination
from orchestrator.pm.handlers.answers import take_default
from orchestrator.pm.plan.advance import ACTIVE, end_run
from orchestrator.pm.plan.readiness import next_start
from orchestrator.pm.policies import stalls
from orchestrator.pm.policies.budget import wake_at as used_up_at
from orchestrator.pm.policies.consultation_end import see_patience
from orchestrator.pm.policies.inactivity import progressed, watch
from orchestrator.pm.policies.retries import try_launches_now
from orchestrator.pm.policies.sights import newer_sign
from orchestrator.pm.state import overloads
from orchestrator.pm.state.changes import TimesShifted
from orchestrator.pm.state.step_changes import StepLimited, StepTallied
from orchestrator.pm.state.usage_limits import moved_by_clock, try_after_move

if TYPE_CHECKING:
    from orchestrator.model.facts import CheckedIn, ClockMoved
    from orchestrator.model.limits import Limits
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState


def checked_in(draft: Draft, fact: CheckedIn) -> None:
    """Record signs of work, then handle what is due."""
    for name, at in fact.progress.items():
        run = draft.state.runs.get(name)
        newest = newer_sign(run, at, fact.at) if run is not None and run.live else None
        if run is not None and newest is not None:
            progressed(draft, run, newest)
    if fact.asked and draft.state.state in ACTIVE:
        try_launches_now(draft)
    see_what_is_due(draft)


def clock_moved(draft: Draft, fact: ClockMoved) -> None:
    """Shift deadlines by time in which the machine slept or its clock was changed (law 5)."""
    if draft.state.state not in ACTIVE or not (fact.slept or fact.put):
        return
    if fact.slept:
        draft.notice(f"the machine slept for {_spoken(fact.slept)}; deadlines move along")
    if fact.put:
        way = "forward" if fact.put > 0 else "back"
        draft.notice(f"the clock was set {way} by {_spoken(abs(fact.put))}; deadlines move along")
    draft.change(TimesShifted(fact.slept + fact.put, fact.put))
    _move_limits(draft, fact.put)


def _move_limits(draft: Draft, put: float) -> None:
    """Keep the end of usage limits at the moment that services announced, whatever the clocks did meanwhile.

    How long an overload has lasted is measured by this machine, and moves along.
    """
    steps = draft.state.steps
    marks = steps.pausing
    for run in draft.state.live_runs:
        marks |= steps.mark(run.step)
    for step in steps.among(marks):
        if (tally := overloads.moved_by_clock(step.tally, put)) != step.tally:
            draft.change(StepTallied(step.id, tally))
        if step.limit is not None:
            limit = moved_by_clock(step.limit, put)
            again = try_after_move(limit, put, draft.at, draft.limits) if step.limited else None
            draft.change(StepLimited(step.id, limit, again))


def _spoken(seconds: float) -> str:
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"


def see_what_is_due(draft: Draft) -> None:
    """End the runs whose time is up, look at quiet ones, take the defaults of questions that nobody answered in time.

    `advance` sees to pauses of steps that are over.
    """
    for run in draft.state.live_runs:
        if _see_run(draft, run) is Ending.STALLED:  # inactivity may be due as well, after a long jump in time
            _see_run(draft, draft.state.runs[run.id])
    for question in draft.state.open_questions:
        if question.deadline is not None and draft.at >= question.deadline:
            take_default(draft, question)
    if draft.state.state in ACTIVE:
        see_patience(draft)


def _see_run(draft: Draft, run: Run) -> Ending | None:
    """Handle what is due next about a run, and return what that was; None if nothing is due."""
    at, why = _due(draft.state, run, draft.limits)
    if draft.at < at:
        return None
    if why is Ending.NOT:
        (boxes.ask_about if run.life is Life.UNREACHABLE else stuck_termination.ask_whether_gone)(draft, run)
    elif why is Ending.STALLED:
        watch(draft, run, for_model=True)
    elif why is not Ending.SILENT:
        end_run(draft, run, why)
    elif draft.at >= run.since + draft.limits_of(run.step).max_run_time:
        end_run(draft, run, Ending.OVERDUE)
    else:
        watch(draft, run)
    return why


def wake_at(state: PMState, limits: Limits) -> float | None:
    """Return the next moment at which time alone changes something, in seconds since the epoch; None if none."""
    moments = [moment for run in state.live_runs if (moment := _due(state, run, limits)[0]) < math.inf]
    if state.state not in ACTIVE:
        return min(moments, default=None)
    moments += [each.deadline for each in state.open_questions if each.deadline is not None]
    if state.consultation.step:
        moments.append(state.consultation.opened_at + limits.pm_timeout)
    if (start := next_start(state, limits)) is not None:
        moments.append(start)
    if (used_up := used_up_at(state, limits)) is not None:
        moments.append(used_up)
    return min(moments, default=None)


def _due(state: PMState, run: Run, limits: Limits) -> tuple[float, Ending]:
    """Return when to act on a run next, and how; a quiet run is looked at before it is ended.

    A run is never ended because its box does not answer, nor taken for gone because it was asked to end: a person
    decides.
    """
    if run.life is Life.UNREACHABLE:
        return boxes.patience_ends(run, limits), Ending.NOT
    if run.ending is not Ending.NOT:
        return stuck_termination.patience_ends(state, run, limits), Ending.NOT
    if run.reported_at is not None:
        return run.reported_at + limits.exit_timeout, Ending.DONE
    if run.is_queued:
        return run.opened_at + limits.queue_timeout, Ending.OVERDUE
    if run.life is Life.STARTING:
        # It may wait for a lease that another run holds, which has this bound of its own; it is not silent meanwhile.
        return run.opened_at + 2 * limits.max_run_time, Ending.OVERDUE
    own = bounded(limits, state.steps[run.step].bounds)
    overdue = run.since + _longest(run, own)
    unheard = run.receipts and run.delivery is None
    patience = (
        min(limits.receipt_timeout, limits.inactivity_timeout) if unheard else limits.inactivity_timeout
    )
    # Each look is compared with the one before: one directly after it would see no difference.
    again = run.watched_at + (limits.look_interval if run.looks else min(limits.look_interval, patience))
    silent = max(run.progress_at + patience, again)
    if run.quiet is Quiet.UNASKED:
        silent = run.looked_at + limits.receipt_timeout
    if run.purpose is not Purpose.WORK or run.waits_for or overdue <= silent:
        silent, why = overdue, Ending.OVERDUE
    else:
        why = Ending.SILENT
    stalled = stalls.due_at(limits, run)
    return (stalled, Ending.STALLED) if stalled < silent else (silent, why)


def _longest(run: Run, own: Limits) -> float:
    """Return how many seconds a run may last, by the limits of its step."""
    match run.purpose:
        case Purpose.WORK:
            return own.max_run_time
        case Purpose.CHECK:
            return own.check_time
        case Purpose.PREPARE:
            return own.prepare_time
