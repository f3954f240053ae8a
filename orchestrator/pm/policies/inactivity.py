"""No progress for too long: look, distinguish exploring from spinning, and act on what was seen (H9).

::

    ::

        no sign of progress for `inactivity_timeout` ─▶ look
          ├─ it changes files, prints something new ─▶ progress: wait
          ├─ it only computes, or repeats calls ─▶ wait, `max_looks` times; then as if it spins
          ├─ a dialog ─▶ a question; nothing is typed
          ├─ a dialog that its hook should have reported ─▶ run again
          ├─ it waits for its model ─▶ see `stalls`
          ├─ its turn failed ─▶ as if its program had reported that
          ├─ its work is there, and no handoff ─▶ nudge, then ask again
          └─ it repeats itself, or does nothing at all ─▶ nudge, then end it and
             run again on the same work; then a question

    A look is an action because it reads the outside world; a check-in without news never looks (law 9). A spinner or a
    clock on the screen is no progress, and neither is a permission that was given: only results count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Look, Nudge
from orchestrator.model.event import Failure
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Quiet, Run, Sight, Turn
from orchestrator.pm.plan.advance import ACTIVE, end_run
from orchestrator.pm.plan.asking import ABANDON, CONTINUE, RETRY, SET_ASIDE, ask, withdraw
from orchestrator.pm.policies import stalls
from orchestrator.pm.policies.provider_errors import turn_failed
from orchestrator.pm.policies.sights import evidence_of, found, newer_sign
from orchestrator.pm.policies.stalls import clock
from orchestrator.pm.state.run_changes import RunLooked, RunNudged, RunProgressed, RunWatched

if TYPE_CHECKING:
    from orchestrator.model.facts import Looked, Nudged
    from orchestrator.pm.state.draft import Draft

_TURNS: Final = {
    Quiet.MOVING: Turn.BUSY,
    Quiet.PRINTING: Turn.BUSY,
    Quiet.COMPUTING: Turn.BUSY,
    Quiet.SPINNING: Turn.UNKNOWN,
    Quiet.DIALOG: Turn.WAITING,
    Quiet.FAILED: Turn.RESTING,
    Quiet.WAITING: Turn.BUSY,
    Quiet.ANSWERED: Turn.BUSY,
    Quiet.STALLED: Turn.UNKNOWN,
    Quiet.TOOL: Turn.BUSY,
    Quiet.UNASKED: Turn.WAITING,
    Quiet.REPEATING: Turn.BUSY,
    Quiet.UNREPORTED: Turn.RESTING,
    Quiet.HUNG: Turn.UNKNOWN,
    Quiet.UNSURE: Turn.UNKNOWN,
    Quiet.UNKNOWN: Turn.UNKNOWN,
}
_NUDGES: Final = {
    Quiet.UNREPORTED: "The PM sees your work and no handoff: write the handoff now, as your order says.",
}
_NUDGE: Final = (
    "The PM has seen no progress for a while. If the work is done, write your handoff as your order says; if you "
    "are stuck, write it with Status BLOCKED and the reason; else go on."
)


def progressed(draft: Draft, run: Run, at: float) -> None:
    """Record a sign of progress. What an earlier look found no longer holds."""
    if run.quiet is not None:
        seen = f"showed progress at {clock(at, draft.state.utc_offset)}: a file, or a new record"
        draft.change(RunLooked(run.id, Quiet.MOVING, Turn.BUSY, seen, draft.at, run.cpu, run.printed))
    draft.change(RunProgressed(run.id, at))
    withdraw(draft, run.step, run.id, QuestionKind.DIALOG)


def watch(draft: Draft, run: Run, *, for_model: bool = False) -> None:
    """Order a look at a quiet run.

    A look that never comes back is bounded by `limits.max_looks`, or by `limits.stall_timeout`.
    `for_model`: the run waits for its model, and may be quiet for longer.
    """
    open_look = any(isinstance(each, Look) and each.run == run.id for each in draft.state.outbox.values())
    draft.change(RunWatched(run.id, draft.at, counts=not for_model))
    longest = _longest(draft, run, run.said)
    if not open_look:
        draft.act(Look(id=draft.new_id("a"), run=run.id))
    elif for_model and draft.at >= run.heard_at + longest + longest / stalls.LOOKS:
        draft.close_actions(Look, run=run.id)
        _take(draft, run, stalls.found(draft.limits, run, None, longest, draft.at), None)
    elif not for_model and run.looks >= draft.limits.max_looks:
        draft.close_actions(Look, run=run.id)
        _act_on(draft, draft.state.runs[run.id], Quiet.HUNG, Sight())


def looked(draft: Draft, fact: Looked) -> None:
    """Handle the result of a look. Events that the run reported meanwhile are newer, and win."""
    asked = draft.close_actions(Look, run=fact.run)
    run = draft.state.runs.get(fact.run)
    if run is None or not (asked and _still_matters(draft, run)) or run.event_at > run.looked_at:
        return
    said = fact.sight.said if fact.sight is not None else run.said
    quiet = found(run, fact.sight, draft.limits, draft.at, _longest(draft, run, said))
    _take(draft, run, quiet, fact.sight, fact.reason)


def nudged(draft: Draft, fact: Nudged) -> None:
    """Close a nudge. Its outcome is known, or known to be unknown; either way the line is not typed again (law 4)."""
    draft.close_actions(Nudge, id=fact.action)


def _longest(draft: Draft, run: Run, said: str) -> float:
    return stalls.patience(draft.step(run.step).tally, draft.limits, run, said)


def _still_matters(draft: Draft, run: Run) -> bool:
    """Return whether a run's work still counts: it lives, has not reported, and is not being ended."""
    step = draft.step(run.step)
    works = (step.attempt, step.state) == (run.attempt, StepState.WORKING)
    leaving = run.reported_at is not None or run.ending is not Ending.NOT or run.waits_for
    return run.live and works and not leaving and draft.state.state in ACTIVE


def _take(draft: Draft, run: Run, quiet: Quiet, sight: Sight | None, reason: str = "") -> None:
    """Record what a look found, and act on it."""
    seen = sight or Sight(cpu=run.cpu, printed=run.printed)
    evidence = evidence_of(quiet, seen, run, draft.state.utc_offset)
    if quiet is Quiet.UNKNOWN:
        evidence = f"could not be looked at: {reason or 'no reason given'}"
    # Compare its usage and output only with those of the last look that was made for the same silence.
    counts = run.watched_at == run.looked_at
    cpu, printed = (seen.cpu, seen.printed) if counts else (run.cpu, run.printed)
    result = RunLooked(run.id, quiet, _TURNS[quiet], evidence, draft.at, cpu, printed, seen.said)
    draft.change(result)
    again = quiet is Quiet.UNASKED and run.quiet is not Quiet.UNASKED
    if not again:  # the hook may just be reporting the dialog: look once more
        _act_on(draft, draft.state.runs[run.id], quiet, seen)


def _act_on(draft: Draft, run: Run, quiet: Quiet, sight: Sight) -> None:
    if quiet is not Quiet.DIALOG:
        withdraw(draft, run.step, run.id, QuestionKind.DIALOG)
    match quiet:
        case Quiet.MOVING:
            draft.change(
                RunProgressed(run.id, newer_sign(run, sight.changed_at, draft.at) or run.progress_at)
            )
        case Quiet.PRINTING:
            draft.change(RunProgressed(run.id, draft.at))
        case Quiet.WAITING | Quiet.ANSWERED | Quiet.TOOL | Quiet.UNSURE:
            return
        case Quiet.COMPUTING | Quiet.UNKNOWN | Quiet.REPEATING:
            if run.looks >= draft.limits.max_looks:
                _stir(draft, run, quiet, sight)
        case Quiet.DIALOG:
            _ask_about_dialog(draft, run, sight)
        case Quiet.UNASKED:
            end_run(draft, run, Ending.UNASKED)
        case Quiet.STALLED:
            end_run(draft, run, Ending.STALLED)
        case Quiet.FAILED:
            failure = sight.failure or Failure.OTHER
            turn_failed(draft, run, failure, sight.line, sight.reset, run.progress_at)
        case Quiet.SPINNING | Quiet.UNREPORTED | Quiet.HUNG:
            _stir(draft, run, quiet, sight)


def _stir(draft: Draft, run: Run, quiet: Quiet, sight: Sight) -> None:
    """Nudge a run that accepts input, up to the bound; then end it, to be run again."""
    if sight.listens and run.nudges < draft.limits.max_nudges:
        draft.change(RunNudged(run.id))
        draft.act(Nudge(id=draft.new_id("a"), run=run.id, text=_NUDGES.get(quiet, _NUDGE)))
        return
    end_run(draft, run, Ending.UNREPORTED if quiet is Quiet.UNREPORTED else Ending.SILENT)


def _ask_about_dialog(draft: Draft, run: Run, sight: Sight) -> None:
    """Ask a person to answer a dialog; nothing is ever typed into one. The agent waits, and blocks nobody else."""
    shown = "".join(f"\n    {line}" for line in sight.screen)
    text = (
        f"{run.instance} waits at a dialog on '{draft.step(run.step).title}' ({sight.dialog}). Answer it in its pane "
        f"(`task attach {draft.state.id}`), then answer this with {CONTINUE}.{shown}"
    )
    ask(draft, run.step, text, (CONTINUE, RETRY, SET_ASIDE, ABANDON), QuestionKind.DIALOG, run.id)
