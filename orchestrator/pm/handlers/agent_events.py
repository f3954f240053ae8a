"""Events from agent programs: prompt received, permission asked, turn ended, turn failed (U2, U3).

::

    ::

        started ─▶ prompt received ─▶ busy ─┬─ asks permission ─▶ rules ─▶ allow, deny, or a question
        (the receipt)                       ├─ turn ended, handoff found ─▶ resting: its run is ended
                                            ├─ turn ended, handoff under a temporary name ─▶ waited for
                                            ├─ turn ended, no handoff ─▶ asked to write it, once; then asked again
                                            └─ turn failed ─▶ parked, tried again, handed over, or a question

    An event is only a claim of an agent program (law 6). It never passes a gate. If an event does not come, the look at
    a quiet run finds what happened.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Answer
from orchestrator.model.event import EventKind, Failure, Reply, Say
from orchestrator.model.plan import StepState
from orchestrator.model.run import Delivery, Ending, Turn
from orchestrator.pm.handlers.permission_requests import asked
from orchestrator.pm.plan.acknowledgements import LEAVING, answer, let_go, record_event, runs_again
from orchestrator.pm.plan.advance import ACTIVE, end_run
from orchestrator.pm.plan.consultations import is_consultation
from orchestrator.pm.policies.consultation_end import conclude, has_decided
from orchestrator.pm.policies.inactivity import progressed, watch
from orchestrator.pm.policies.provider_errors import turn_failed
from orchestrator.pm.state.run_changes import RunDelivered
from orchestrator.pm.state.step_changes import StepTallied

if TYPE_CHECKING:
    from orchestrator.model.facts import EventLanded
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft

_ENDED_WITHOUT: Final = (
    "Your turn is over and the PM finds no handoff of yours. Write it now, as your order says: COMPLETE if the work is "
    "done, BLOCKED with the reason if it is not."
)
_UNDECIDED: Final = (
    "Your turn is over and the PM daemon finds no decision of yours. Write it now, as your order says: a handoff with "
    "`**Action:**` and `**Run:**` in its head."
)


def event_landed(draft: Draft, fact: EventLanded) -> None:
    """Handle an event that an agent program reported. The same event again changes nothing."""
    run = draft.state.runs.get(fact.run)
    if run is None or not run.live or fact.name in run.acknowledged:
        return
    if _works(draft, run):
        _take(draft, run, fact)
    else:
        _see_off(draft, run, fact)
    answered = any(isinstance(each, Answer) and each.name == fact.name for each in draft.actions)
    if fact.waits and not answered and draft.state.runs[run.id].waits_for != fact.name:
        answer(draft, run, fact.name, Reply(Say.PASS))


def _take(draft: Draft, run: Run, fact: EventLanded) -> None:
    if run.receipts and run.delivery is None and fact.event.kind in {EventKind.ASKED, EventKind.ENDED}:
        # It works, and reported no receipt for its order: stop looking for one.
        draft.change(RunDelivered(run.id, Delivery.UNKNOWN))
    match fact.event.kind:
        case EventKind.STARTED:
            record_event(draft, run, fact, run.turn, "its program is up")
        case EventKind.TAKEN:
            _taken(draft, run, fact)
        case EventKind.ASKED:
            asked(draft, run, fact)
        case EventKind.WAITING:
            _waits(draft, run, fact)
        case EventKind.RETRYING:
            evidence = f"says that its service fails and that it tries again: {fact.event.text}"
            record_event(draft, run, fact, Turn.UNKNOWN, evidence, alive=False)
        case EventKind.USED:
            record_event(draft, run, fact, run.turn, run.evidence)
        case EventKind.ABORTED:
            record_event(draft, run, fact, Turn.RESTING, "its turn was broken off")
        case EventKind.ENDED:
            _ended(draft, run, fact)
        case EventKind.FAILED:
            _failed(draft, run, fact)


def _see_off(draft: Draft, run: Run, fact: EventLanded) -> None:
    """Handle an event of a run whose work no longer counts, or is handed in already: let the run leave."""
    over = fact.event.kind in {EventKind.ENDED, EventKind.FAILED}
    record_event(
        draft, run, fact, Turn.RESTING if over else run.turn, "its turn is over" if over else run.evidence
    )
    if fact.waits and fact.event.kind is EventKind.ASKED:
        answer(draft, run, fact.name, LEAVING)
    if over and run.reported_at is not None:
        end_run(draft, draft.state.runs[run.id], Ending.DONE)


def _works(draft: Draft, run: Run) -> bool:
    """Return whether a run's work still counts: its step waits for its report, and nobody is ending the run."""
    step = draft.step(run.step)
    wanted = (step.attempt, step.state) == (run.attempt, StepState.WORKING)
    return wanted and run.ending is Ending.NOT and run.reported_at is None and draft.state.state in ACTIVE


def _taken(draft: Draft, run: Run, fact: EventLanded) -> None:
    if run.delivery is None:
        draft.change(RunDelivered(run.id, Delivery.DELIVERED if fact.whole else Delivery.UNKNOWN))
        if not fact.whole:
            draft.notice(
                f"the prompt that {run.instance} received differs from its order: look at run {run.id}"
            )
    record_event(draft, run, fact, Turn.BUSY, "took its order" if fact.whole else "took a prompt")
    progressed(draft, run, fact.at)


def _waits(draft: Draft, run: Run, fact: EventLanded) -> None:
    """A dialog is up. It is no news if a person is being asked about it already."""
    if run.waits_for:
        record_event(draft, run, fact, run.turn, run.evidence)
        return
    record_event(draft, run, fact, Turn.WAITING, f"says that it waits: {fact.event.text}")
    watch(draft, run)


def _ended(draft: Draft, run: Run, fact: EventLanded) -> None:
    """A turn ended. The daemon looked for its handoff before it passed on this event (law 5)."""
    runs_again(draft, run)
    if fact.event.background:
        record_event(
            draft, run, fact, Turn.BUSY, f"waits for {fact.event.background} tasks in the background"
        )
        return
    # If it waited for permission, somebody answered in its pane: after its turn it needs none.
    let_go(draft, run, Reply(Say.PASS))
    if has_decided(draft, run):
        record_event(draft, run, fact, Turn.RESTING, "decided, and ended its turn")
        conclude(draft, draft.state.runs[run.id])
        return
    if fact.saving:
        record_event(
            draft,
            run,
            fact,
            Turn.RESTING,
            f"ended its turn; {fact.saving} still has to be renamed to a handoff",
        )
        return
    here = draft.step(run.step)
    if fact.waits and here.tally.asks < draft.limits_of(run.step).max_report_requests:
        draft.change(StepTallied(run.step, replace(here.tally, asks=here.tally.asks + 1)))
        record_event(
            draft, run, fact, Turn.BUSY, "ended its turn without a handoff and was asked to write it"
        )
        answer(draft, run, fact.name, Reply(Say.GO_ON, _what_is_missing(here)))
        return
    record_event(draft, run, fact, Turn.RESTING, "ended its turn without a handoff")
    end_run(draft, draft.state.runs[run.id], Ending.UNREPORTED)


def _what_is_missing(step: Step) -> str:
    if not is_consultation(step):
        return _ENDED_WITHOUT
    return "\n".join([_UNDECIDED, *step.feedback[-3:]])


def _failed(draft: Draft, run: Run, fact: EventLanded) -> None:
    failure = fact.event.failure or Failure.OTHER
    limited = failure is Failure.LIMIT
    evidence = f"its turn failed ({failure.value}): {fact.event.text}"
    record_event(draft, run, fact, Turn.LIMITED if limited else Turn.RESTING, evidence)
    turn_failed(draft, draft.state.runs[run.id], failure, fact.event.text, fact.event.reset, fact.at)
