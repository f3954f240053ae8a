"""A report landed: which run it belongs to, whether it counts, and what follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.handoff import ReportStatus
from orchestrator.model.plan import Gate, Step, StepState
from orchestrator.model.run import Purpose
from orchestrator.model.task import Phase
from orchestrator.pm.plan.acknowledgements import let_go
from orchestrator.pm.plan.advance import close_order
from orchestrator.pm.plan.consultations import is_consultation
from orchestrator.pm.policies.blockers import blocked
from orchestrator.pm.policies.completion import go_through, review_asked_by
from orchestrator.pm.policies.gates import judge_report, take_report
from orchestrator.pm.policies.gates.kind import begin_checking
from orchestrator.pm.policies.inactivity import progressed
from orchestrator.pm.policies.rejections import reject
from orchestrator.pm.policies.retries import ask_again
from orchestrator.pm.policies.role_handoffs import hand_on
from orchestrator.pm.policies.turn_ends import hands_in_by_files, record_turn
from orchestrator.pm.state.changes import HandoffSeen
from orchestrator.pm.state.run_changes import RunReported
from orchestrator.pm.state.step_changes import StepAdded, StepReported

if TYPE_CHECKING:
    from orchestrator.model.facts import ReportLanded
    from orchestrator.model.handoff import Report
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

ARTIFACTS_NAMED: Final = 20
REASON_KEPT: Final = 400
"""How many characters are kept of a report's reason for changing nothing."""


def report_landed(draft: Draft, fact: ReportLanded) -> None:
    """Handle a report, or record why it does not count. The same bytes again change nothing."""
    if draft.state.seen.get(fact.name) == fact.sha256:
        return
    run = speaker(draft.state, fact)
    draft.change(HandoffSeen(fact.name, fact.sha256, "" if isinstance(run, str) else run.id))
    if isinstance(run, str):
        draft.notice(f"{fact.name} was ignored: {run}")
        return
    progressed(draft, run, fact.at)
    if not _hands_in(draft.step(run.step), fact):
        return
    close_order(draft, run)
    draft.change(RunReported(run.id, fact.at))
    let_go(draft, draft.state.runs[run.id])  # it has handed in, and needs no permission any more
    step = draft.step(run.step)
    if (step.attempt, step.state) != (run.attempt, StepState.WORKING):
        draft.notice(f"{fact.name} was ignored: {step.id} was reopened or given up meanwhile")
    elif fact.faults or fact.report is None:
        reasons = "; ".join(f"{fact.name}, {fault}" for fault in fact.faults[:10])
        ask_again(draft, run.step, reasons)
    elif (fact.missing or fact.withheld) and fact.report.status is not ReportStatus.BLOCKED:
        ask_again(draft, run.step, _lacking(fact, run))
    else:
        _take(draft, run, fact.name, fact.report)


def _hands_in(step: Step, fact: ReportLanded) -> bool:
    """Return whether a report is more than a sign of progress. Where files are handed in, only the daemon's own is."""
    turn = fact.report.turn if fact.report is not None else None
    if hands_in_by_files(step):
        return turn is not None
    return fact.report is None or fact.report.status is not ReportStatus.IN_PROGRESS


def _lacking(fact: ReportLanded, run: Run) -> str:
    """Return which artifacts of a report are not here, and why."""
    reasons = []
    if fact.missing:
        reasons.append(f"it names files that are not on disk: {', '.join(fact.missing[:10])}")
    reasons += [f"{name} stays on {run.host}: {why}" for name, why in fact.withheld[:10]]
    return "; ".join(reasons)


def speaker(state: PMState, fact: ReportLanded) -> Run | str:
    """Return the run that a report belongs to, or the reason why it belongs to none.

    A report that names a run must come from that run's agent and answer its order. A report that names none belongs
    to that agent's only run with an open order, unless the file existed before that order was opened, or is a copy of a
    report that was handed in for something else: touching or copying an old report does not hand it in again. A file
    may be named after the instance (`dev-2`) or its definition (`dev`).
    """
    waiting = [state.runs[order.run] for order in state.orders.values()]
    waiting = [
        run
        for run in waiting
        if fact.instance in {run.instance, run.agent}
        and run.purpose is Purpose.WORK
        and not is_consultation(state.steps[run.step])  # a consultation hands in a decision, no report
    ]
    named = fact.report.run if fact.report else None
    if named:
        run = state.runs.get(named)
        if run is None or fact.instance not in {run.instance, run.agent}:
            return f"it names the run {named}, which is no run of {fact.instance}"
        if run not in waiting:
            return f"the order of run {named} is closed already"
    elif len(waiting) != 1:
        return f"{fact.instance} has {'no open order' if not waiting else 'several open orders and it names none'}"
    else:
        run = waiting[0]
        if (before := _spoke_before(state, fact, run)) is not None:
            return f"{before}, and it names no run: {fact.instance} has to write `**Run:** {run.id}`, or another file"
    answers = fact.report.in_reply_to if fact.report else None
    if answers and answers.removeprefix("handoffs/") != run.order:
        return f"it answers {answers}, but the open order of {fact.instance} is {run.order}"
    return run


def _spoke_before(state: PMState, fact: ReportLanded, run: Run) -> str | None:
    """Return what a file, or one of the same bytes, was used for before, if not for this run's attempt; else None.

    A refused report may be corrected in place by the next run of the same attempt. What is no valid report is no copy
    of one: two files that were cut off after the same words are alike by chance.
    """
    if fact.name in state.seen:
        before = state.runs.get(state.spoke.get(fact.name, ""))
        if before is None:
            return "it existed before, and was ignored"
        if not _is_of_attempt(before, run):
            return f"it was handed in by run {before.id} for {before.step}"
    if fact.report is None or fact.faults:
        return None
    for name, digest in state.seen.items():
        original = state.runs.get(state.spoke.get(name, "")) if digest == fact.sha256 else None
        if original is not None and not _is_of_attempt(original, run):
            return f"it is a copy of {name}, which run {original.id} handed in for {original.step}"
    return None


def _is_of_attempt(before: Run, run: Run) -> bool:
    return (before.step, before.attempt) == (run.step, run.attempt)


def _take(draft: Draft, run: Run, name: str, report: Report) -> None:
    unchanged = " ".join(report.unchanged.split())[:REASON_KEPT]
    draft.change(StepReported(run.step, name, report.artifacts[:ARTIFACTS_NAMED], unchanged))
    record_turn(draft, run.step, report)
    if hand_on(draft, run.step, name, report):
        return
    if report.status is ReportStatus.BLOCKED:
        blocked(draft, run.step, report)
        return
    step = draft.step(run.step)
    judgement = judge_report(step, report)
    if judgement.again:
        ask_again(draft, step.id, judgement.again)
    elif judgement.rejected:
        reject(draft, step.id, judgement.rejected)
    elif take_report(draft, step.id, report):
        return
    elif _awaits_review(draft.state, step):
        begin_checking(draft, step.id, "it is reviewed again")
    elif report.status is ReportStatus.NEEDS_REVIEW and _may_ask_for_review(draft.state, step):
        _add_review(draft, step.id)
    else:
        go_through(draft, step.id)


def _awaits_review(state: PMState, step: Step) -> bool:
    """Return whether a review that an earlier report asked for is still pending: it was reopened with the step."""
    review = review_asked_by(state, step.id)
    return review is not None and review.state is StepState.PENDING


def _may_ask_for_review(state: PMState, step: Step) -> bool:
    """A step with a judge of its own needs no other review, and a judge gets none: reviews would never end."""
    return not step.judges and not state.steps.judges_of(step.id)


def _add_review(draft: Draft, step: str) -> None:
    """Add the quality gate that a report asked for: a review step that judges this one (H9)."""
    here = draft.step(step)
    begin_checking(draft, step, "a review was asked for")
    review = Step(
        id=_free_id(draft.state, f"review:{step}"),
        agent="review",
        title=here.title,
        instructions=f"Review what {here.agent} handed in as {here.report}: {here.title}",
        phase=Phase.REVIEWING,
        needs=(),
        kind=here.kind,
        workspace=here.workspace,
        gates=(Gate.VERDICT,),
        judges=step,
        since=draft.at,
    )
    draft.change(StepAdded(review))


def _free_id(state: PMState, wanted: str) -> str:
    """Return the wanted id for a step; if it is taken, with the first free number appended."""
    number, free = 1, wanted
    while free in state.steps:
        number += 1
        free = f"{wanted}-{number}"
    return free
