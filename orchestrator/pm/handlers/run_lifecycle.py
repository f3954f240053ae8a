"""Runs that start, end, are lost, or could not be launched."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.formats.amounts import span_said
from orchestrator.model.actions import Answer, End, Inspect, Launch, Look, Nudge
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.run import NOT_BEGUN, Ending, Exit, Life, Purpose, Run, Turn
from orchestrator.pm.plan.advance import ACTIVE, begin, close_order, open_work
from orchestrator.pm.plan.asking import withdraw
from orchestrator.pm.plan.consultations import is_consultation
from orchestrator.pm.plan.handing_on import received_by
from orchestrator.pm.plan.work_location import only_looks
from orchestrator.pm.policies.causes import note_cause, printed, with_cause
from orchestrator.pm.policies.conflicts import conflicted
from orchestrator.pm.policies.consultation_end import conclude, has_decided
from orchestrator.pm.policies.merging import rechecked
from orchestrator.pm.policies.orphan_processes import ended_by_itself
from orchestrator.pm.policies.rejections import THE_PM, reject
from orchestrator.pm.policies.retries import (
    ask_again,
    block,
    crashed,
    lost,
    not_launched,
    not_prepared,
    silent,
    stalled,
    start_afresh,
    went_in_circles,
)
from orchestrator.pm.policies.role_handoffs import refuse
from orchestrator.pm.policies.vanished_trees import begin_again, launched_without_a_tree
from orchestrator.pm.state.results import baseline_of, checked_work, fails_as_before
from orchestrator.pm.state.run_changes import RunBelieved, RunPending, RunProgressed, RunSpent
from orchestrator.pm.state.step_changes import StepChecked, StepMoved, StepPrepared, StepTallied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model.facts import LaunchFailed, RunGone, RunQueued, RunStarted
    from orchestrator.pm.state.draft import Draft

_ENDED: Final = {
    Ending.STOPPED: "was ended with its task",
    Ending.SILENT: "gave no sign of work, and was ended",
    Ending.OVERDUE: "exceeded the time limit of a run, and was ended",
    Ending.UNREPORTED: "left work and no handoff, and was ended",
    Ending.BY_PM: "was ended by the PM agent",
    Ending.FAILED: "had a turn that failed",
    Ending.STALLED: "waited for its model in vain, and was ended",
    Ending.UNASKED: "stood at a dialog that its hook had not reported, and was ended",
    Ending.REPEATING: "went round in circles, and was ended",
    Ending.TREE_LOST: "was ended, as its worktree vanished",
    Ending.BUDGET: "was ended, as the task had used up its budget",
}

TERMINAL_GONE: Final = 1  # SIGHUP
"""The signal that a process gets when its terminal closes: the tmux server went down, not the agent."""


def run_started(draft: Draft, fact: RunStarted) -> None:
    """Record that a launcher claimed its run."""
    draft.close_actions(Launch, run=fact.run)
    run = draft.state.runs.get(fact.run)
    if run is not None and run.life in NOT_BEGUN:
        evidence = f"process {fact.pid}"
        draft.change(RunBelieved(run.id, Life.ALIVE, Turn.BUSY, evidence, fact.at, fact.pid, fact.pane))
        draft.change(RunProgressed(run.id, fact.at))
        tally = draft.step(run.step).tally
        if tally.launches:
            draft.change(StepTallied(run.step, replace(tally, launches=0)))


def run_queued(draft: Draft, fact: RunQueued) -> None:
    """Record why a run has not begun: what waits in a queue is neither late nor silent."""
    run = draft.state.runs.get(fact.run)
    if run is not None and run.life in NOT_BEGUN and run.queued != fact.reason:
        draft.close_actions(Launch, run=fact.run)
        draft.change(RunPending(run.id, fact.reason, fact.at))


def launch_failed(draft: Draft, fact: LaunchFailed) -> None:
    """Handle a run that could not be launched."""
    run = draft.state.runs.get(fact.run)
    # An unreachable run may also never have been launched: its launch alone can show that.
    if run is None or run.pid is not None or run.life not in {*NOT_BEGUN, Life.UNREACHABLE}:
        return
    draft.close_actions(Launch, End, run=run.id)
    how = f"could not be launched: {fact.reason}"
    _bury(draft, run, Exit(lost=True), how)
    if not _counts(draft, run):
        return
    if _wanted_gone(draft, run):
        _ended_by_us(draft, run)
    elif fact.tree_lost:
        launched_without_a_tree(draft, fact, run.step)
    elif fact.again and run.on_box:
        not_launched(draft, run, how)
    elif fact.again:
        lost(draft, run.step, how, began=False)
    else:
        block(draft, run.step, f"{run.agent} {how}")


def run_gone(draft: Draft, fact: RunGone) -> None:
    """Handle the end of a run's process. Its last words were read before this fact (law 5)."""
    take_for_gone(draft, fact.run, fact.exit, fact.lines)


def take_for_gone(draft: Draft, name: str, how: Exit, lines: Sequence[str] = ()) -> None:
    """Close a run that is gone, and continue its step; `lines` are the last ones that it printed."""
    run = draft.state.runs.get(name)
    draft.close_actions(Launch, End, run=name)
    if run is None or not run.live:
        return
    open_order = run.order in draft.state.orders
    was_quiet = run.evidence if run.quiet is not None else ""
    _bury(draft, run, how, str(how))
    if run.purpose is Purpose.WORK and only_looks(draft.state.brief.config, draft.step(run.step)):
        draft.act(Inspect(draft.new_id("a"), run.step, run.attempt))
    if not _counts(draft, run):
        return
    if run.purpose is Purpose.PREPARE:
        if not how.clean:
            note_cause(draft, run, f"the preparation of its worktree {_said_of_command(run, how)}", lines)
        _preparation_ended(draft, run, how)
    elif run.purpose is Purpose.CHECK:
        if not how.clean:
            note_cause(draft, run, f"the check {_said_of_command(run, how)}", lines)
        _check_ended(draft, run, how, lines)
    elif has_decided(draft, run):
        conclude(draft, draft.state.runs[run.id])
    elif open_order:
        note_cause(draft, run, _worded(run, how), lines)
        _ended_without_report(draft, run, how, was_quiet)


def _worded(run: Run, how: Exit) -> str:
    """Return how a run ended that still owed a report."""
    if run.ending is Ending.OVERDUE and run.queued:
        return "waited too long in the queue, and was taken out of it"
    if not ended_by_itself(run):
        return _ENDED.get(run.ending, "was ended by the PM")
    return f"ended without a handoff ({how})" if how.clean else str(how)


def _said_of_command(run: Run, how: Exit) -> str:
    """Return how a check or a preparation ended: the signal by which the PM ended it would hide why."""
    if run.ending is Ending.OVERDUE:
        what = "check" if run.purpose is Purpose.CHECK else "preparation"
        return f"did not end within the time limit of a {what}, and was ended"
    return str(how) if ended_by_itself(run) else _ENDED.get(run.ending, "was ended by the PM")


def _bury(draft: Draft, run: Run, how: Exit, evidence: str) -> None:
    close_order(draft, run)
    draft.close_actions(Look, Nudge, Answer, run=run.id)
    if run.resumes and run.receipts and run.delivery is None:
        draft.change(RunSpent(run.id))  # it never received its order, perhaps because of its conversation
    withdraw(draft, run.step, run.id)
    draft.change(RunBelieved(run.id, Life.GONE, Turn.UNKNOWN, evidence, draft.at, exit=how))


def _counts(draft: Draft, run: Run) -> bool:
    """Return whether the end of a run still matters to its step."""
    step = draft.step(run.step)
    return step.attempt == run.attempt and step.state is StepState.WORKING


def _wanted_gone(draft: Draft, run: Run) -> bool:
    """Return whether a run ended because the PM or the user wanted it to."""
    return not ended_by_itself(run) or draft.state.state not in ACTIVE


def _preparation_ended(draft: Draft, run: Run, how: Exit) -> None:
    """Handle the end of what makes a worktree ready: the check or the agent comes next, or another try."""
    overdue = run.ending is Ending.OVERDUE and run.pid is not None
    if _stopped(draft, run) or (_wanted_gone(draft, run) and not overdue):
        _ended_by_us(draft, run)
    elif overdue:
        bounds = draft.limits_of(run.step)
        most = f"{span_said(bounds.prepare_time)} ({bounds.prepare_bound})"
        not_prepared(draft, run, f"it did not end within {most}, and was ended")
    elif _lost(how):
        lost(draft, run.step, f"'s preparation {how}")
    elif how.clean:
        tally = draft.step(run.step).tally
        if tally.preparations:
            draft.change(StepTallied(run.step, replace(tally, preparations=0)))
        draft.change(StepPrepared(run.step))
        begin(draft, run.step)
    else:
        not_prepared(draft, run, str(how))


def _check_ended(draft: Draft, run: Run, how: Exit, lines: Sequence[str]) -> None:
    """Handle the end of the daemon's own check: its exit status is the verdict, and the agent's run comes next."""
    if draft.step(run.step).only_check and not _stopped(draft, run):
        _only_check_ended(draft, run, how, lines)
    elif run.ending is Ending.OVERDUE and run.pid is not None and draft.state.state in ACTIVE:
        _check_hung(draft, run, lines)
    elif _wanted_gone(draft, run):
        _ended_by_us(draft, run)
    elif _lost(how):
        lost(draft, run.step, f"'s check {how}")
    elif how.verdict is None:
        crashed(draft, run.step, f"had a check that {how}")
    else:
        _take_result(draft, run, how.verdict, lines)


def _take_result(draft: Draft, run: Run, code: int, lines: Sequence[str]) -> None:
    """Record how a check ended, and go on: work that was put upon the branch with that, other work with its judge."""
    here = draft.step(run.step)
    as_before = fails_as_before(draft.state, here, code, lines)
    draft.change(StepChecked(run.step, code, tuple(lines), _checked(draft, run), as_before))
    if Gate.CHECK not in here.gates and code:
        draft.notice(f"the check before {run.step} exited {code}; it is recorded, not judged")
    elif as_before:
        draft.notice(f"the check of {here.judges or here.id} exited {code}, just as before any change")
    if here.recheck:
        rechecked(draft, run.step)
    elif code and not as_before and Gate.CHECK in here.gates and received_by(draft.state, here) is not None:
        refuse(draft, run.step, f"the check that the PM ran exited {code}{printed(tuple(lines))}")
    else:
        open_work(draft, run.step)


def _check_hung(draft: Draft, run: Run, lines: Sequence[str]) -> None:
    """Handle a check that did not end in time: the work fails it. If it did not end before any change, ask."""
    here, before = draft.step(run.step), baseline_of(draft.state)
    bounds = draft.limits_of(run.step)
    text = (
        f"the check did not end within {span_said(bounds.check_time)} ({bounds.check_bound}), and was ended"
    )
    hung_before = before is not None and before.agent == here.agent and before.check_exit is None
    if hung_before:
        advice = "It did not end before any change either: change the command or the limit, then answer retry"
        block(draft, run.step, with_cause(draft, run.step, f"{text}. {advice}"))
    elif here.recheck:
        conflicted(
            draft, here.judges or run.step, f"{text}, on what was merged meanwhile and this work together"
        )
    elif here.judges and Gate.CHECK in here.gates:
        reject(draft, run.step, f"{text}{printed(lines)}", by=THE_PM)
    else:
        block(draft, run.step, with_cause(draft, run.step, text))


def _only_check_ended(draft: Draft, run: Run, how: Exit, lines: Sequence[str]) -> None:
    """Handle the end of a check without an agent's run. It only informs: whatever the result, the step passes."""
    if how.verdict is None:
        draft.notice(f"{run.step} has no result: its check {_said_of_command(run, how)}")
    else:
        draft.change(StepChecked(run.step, how.verdict, tuple(lines), _checked(draft, run)))
        if how.verdict:
            draft.notice(f"the check exited {how.verdict} before anything was changed")
    draft.change(StepMoved(run.step, StepState.PASSED, draft.at))


def _checked(draft: Draft, run: Run) -> str:
    return checked_work(draft.state, draft.step(run.step))


def _stopped(draft: Draft, run: Run) -> bool:
    """Return whether a run ended with its task, so that it is repeated when the task goes on."""
    return run.ending in {Ending.STOPPED, Ending.BUDGET} or draft.state.state not in ACTIVE


def _lost(how: Exit) -> bool:
    return how.lost or how.signal == TERMINAL_GONE


def _ended_without_report(draft: Draft, run: Run, how: Exit, was_quiet: str) -> None:
    if _wanted_gone(draft, run):
        _ended_by_us(draft, run, was_quiet)
    elif _lost(how):
        lost(draft, run.step, str(how), keep_tree=_resumable(draft, run))
    elif how.clean:
        _left_no_handoff(draft, run, "the run ended and left no handoff")
    else:
        crashed(draft, run.step, str(how), keep_tree=_resumable(draft, run))


def _left_no_handoff(draft: Draft, run: Run, why: str) -> None:
    """Handle a run or turn that ended without a handoff: ask for it, then begin afresh, then treat it as a crash."""
    step = draft.step(run.step)
    if step.tally.asks < draft.limits_of(run.step).max_report_requests or is_consultation(step):
        ask_again(draft, run.step, why)
    elif not start_afresh(draft, run.step, why):
        crashed(draft, run.step, "ended without a handoff", keep_tree=_resumable(draft, run))


def _resumable(draft: Draft, run: Run) -> bool:
    """Return whether another run can resume this one's conversation, and so needs its work."""
    return bool(run.session) and not draft.state.runs[run.id].spent


def _ended_by_us(draft: Draft, run: Run, was_quiet: str = "") -> None:
    if run.ending is Ending.SILENT and draft.state.state in ACTIVE:
        longest = span_said(draft.limits_of(run.step).inactivity_timeout)
        bound = f"Give a sign of progress more often than every {longest}: a run that gives none is ended."
        silent(draft, run.step, "gave no sign of work" + (f" ({was_quiet})" if was_quiet else ""), bound)
    elif run.ending is Ending.UNREPORTED and draft.state.state in ACTIVE:
        _left_no_handoff(draft, run, "there is work and no handoff")
    elif run.ending is Ending.OVERDUE and draft.state.state in ACTIVE:
        if run.queued:
            most = span_said(draft.limits.queue_timeout)
            silent(draft, run.step, f"was pending in the queue for longer than {most} (limits.queue_timeout)")
            return
        longest = span_said(draft.limits_of(run.step).max_run_time)
        bound = f"Each run is ended after {longest}: hand in what is done by then, or report what blocks you."
        silent(draft, run.step, "exceeded the time limit of a run", bound)
    elif run.ending is Ending.BY_PM and draft.state.state in ACTIVE:
        silent(draft, run.step, "was ended by the PM")
    elif run.ending in {Ending.STALLED, Ending.UNASKED} and draft.state.state in ACTIVE:
        stalled(draft, run, was_quiet or "reported nothing for too long")
    elif run.ending is Ending.REPEATING and draft.state.state in ACTIVE:
        went_in_circles(draft, run)
    elif run.ending is Ending.TREE_LOST and draft.state.state in ACTIVE:
        begin_again(draft, run.step, "its worktree vanished")
    else:  # it resumes work and conversation when the task goes on
        kept = run.ending in {Ending.BUDGET, Ending.STOPPED}
        draft.change(StepMoved(run.step, StepState.PENDING, draft.at, "its run was ended", keep_tree=kept))
