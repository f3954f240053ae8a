"""No progress for too long: look, tell exploring from spinning, and act on what was seen (HUB 7.1 row 4).

::

    no sign of progress for `silence` ─▶ look ─┬─ it changes files, prints what is new ─▶ progress: wait
                                               ├─ it only computes ─▶ wait, `looks` times, then as spinning
                                               ├─ a dialog ─▶ a question; nothing is typed
                                               ├─ its turn failed ─▶ as if its program had told so
                                               ├─ its work lies there, no handoff ─▶ nudge, then ask again
                                               └─ repeats itself, or nothing at all ─▶ nudge, then end and
                                                  run again, going on with its work; then a question

A look is an action, for it reads the world; a check-in with no news never does (law 9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Look, Nudge
from orchestrator.model.event import Failure
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Quiet, Run, Sight, Turn
from orchestrator.pm.advance import ACTIVE, end_run
from orchestrator.pm.asking import ABANDON, CONTINUE, RETRY, SET_ASIDE, ask, withdraw
from orchestrator.pm.failures import turn_failed
from orchestrator.pm.run_changes import RunLooked, RunNudged, RunProgressed, RunWatched

if TYPE_CHECKING:
    from orchestrator.model.facts import Looked, Nudged
    from orchestrator.model.limits import Limits
    from orchestrator.pm.draft import Draft

BUSY_SHARE: Final = 0.01
"""A run that used less than this share of one processor did not compute: clocks and spinners tick on."""

_TURNS: Final = {
    Quiet.MOVING: Turn.BUSY,
    Quiet.PRINTING: Turn.BUSY,
    Quiet.COMPUTING: Turn.BUSY,
    Quiet.SPINNING: Turn.UNKNOWN,
    Quiet.DIALOG: Turn.WAITING,
    Quiet.FAILED: Turn.RESTING,
    Quiet.UNREPORTED: Turn.RESTING,
    Quiet.HUNG: Turn.UNKNOWN,
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
    """Take note of a sign of progress. What a look had found before no longer holds."""
    if run.quiet is not None:
        told = Quiet.MOVING, Turn.BUSY, "gave a sign of progress"
        draft.change(RunLooked(run.id, *told, draft.at, run.cpu, run.printed))
    draft.change(RunProgressed(run.id, at))
    withdraw(draft, run.step, run.id, QuestionKind.DIALOG)


def watch(draft: Draft, run: Run) -> None:
    """Have a quiet run looked at. A look that never comes back is bounded by `limits.looks`."""
    open_look = any(isinstance(each, Look) and each.run == run.id for each in draft.state.outbox.values())
    draft.change(RunWatched(run.id, draft.at))
    if not open_look:
        draft.act(Look(id=draft.new_id("a"), run=run.id))
    elif run.looks >= draft.limits.looks:
        draft.close_actions(Look, run=run.id)
        _act_on(draft, draft.state.runs[run.id], Quiet.HUNG, Sight())


def looked(draft: Draft, fact: Looked) -> None:
    """A quiet run was looked at."""
    asked = draft.close_actions(Look, run=fact.run)
    run = draft.state.runs.get(fact.run)
    if run is None or not (asked and _still_matters(draft, run)):
        return
    sight = fact.sight
    if sight is None:
        quiet, evidence = Quiet.UNKNOWN, f"could not be looked at: {fact.reason or 'no reason given'}"
    else:
        quiet = found(run, sight, draft.limits)
        evidence = evidence_of(quiet, sight)
    cpu, printed = (run.cpu, run.printed) if sight is None else (sight.cpu, sight.printed)
    draft.change(RunLooked(run.id, quiet, _TURNS[quiet], evidence, draft.at, cpu, printed))
    _act_on(draft, draft.state.runs[run.id], quiet, sight or Sight())


def nudged(draft: Draft, fact: Nudged) -> None:
    """What became of a typed line is known, or is known to be unknown; either way it is not typed again (law 4)."""
    draft.close_actions(Nudge, id=fact.action)


def found(run: Run, sight: Sight, limits: Limits) -> Quiet:
    """Return what a sight means. Structured signs come first, the screen last (law 12)."""
    if sight.changed_at > run.progress_at:
        return Quiet.MOVING
    if sight.failure is not None:
        return Quiet.FAILED
    if sight.dialog:
        return Quiet.DIALOG
    if sight.fresh and sight.printed > run.printed:
        return Quiet.PRINTING
    since = limits.silence if run.cpu is None else limits.look_again
    if sight.cpu is not None and sight.cpu - (run.cpu or 0.0) >= BUSY_SHARE * since:
        return Quiet.COMPUTING
    if sight.printed > run.printed and run.cpu is not None:
        return Quiet.SPINNING
    if sight.artifacts:
        return Quiet.UNREPORTED
    return Quiet.SPINNING if sight.printed > run.printed and run.looks > 1 else Quiet.HUNG


def evidence_of(quiet: Quiet, sight: Sight) -> str:
    """Return what was seen, in words, for whoever asks why (law 12)."""
    used = "" if sight.cpu is None else f"; {sight.cpu:.0f} s of processor time in all"
    match quiet:
        case Quiet.MOVING:
            return "changes files"
        case Quiet.PRINTING:
            return f"prints what it had not said before ({sight.printed} bytes in all)"
        case Quiet.COMPUTING:
            return f"computes and shows nothing{used}"
        case Quiet.SPINNING:
            return f"repeats itself on its screen{used}"
        case Quiet.DIALOG:
            return f"waits at a dialog: {sight.dialog}" + (f" ('{sight.line}')" if sight.line else "")
        case Quiet.FAILED:
            return f"shows that its turn failed: '{sight.line}'"
        case Quiet.UNREPORTED:
            return f"left {', '.join(sight.artifacts[:3])} and no handoff{used}"
        case Quiet.HUNG:
            return f"shows nothing and does nothing{used}"
        case Quiet.UNKNOWN:
            return "could not be looked at"


def _still_matters(draft: Draft, run: Run) -> bool:
    """Tell whether it still counts what a run does: it lives, has not reported, and is not being ended."""
    step = draft.step(run.step)
    works = (step.attempt, step.state) == (run.attempt, StepState.WORKING)
    leaving = run.reported_at is not None or run.ending is not Ending.NOT
    return run.live and works and not leaving and draft.state.state in ACTIVE


def _act_on(draft: Draft, run: Run, quiet: Quiet, sight: Sight) -> None:
    if quiet is not Quiet.DIALOG:
        withdraw(draft, run.step, run.id, QuestionKind.DIALOG)
    match quiet:
        case Quiet.MOVING:
            draft.change(RunProgressed(run.id, min(sight.changed_at, draft.at)))
        case Quiet.PRINTING:
            draft.change(RunProgressed(run.id, draft.at))
        case Quiet.COMPUTING | Quiet.UNKNOWN:
            if run.looks >= draft.limits.looks:
                _stir(draft, run, quiet, sight)
        case Quiet.DIALOG:
            _ask_about_dialog(draft, run, sight)
        case Quiet.FAILED:
            failure = sight.failure or Failure.OTHER
            turn_failed(draft, run, failure, sight.line, sight.reset, run.progress_at)
        case Quiet.SPINNING | Quiet.UNREPORTED | Quiet.HUNG:
            _stir(draft, run, quiet, sight)


def _stir(draft: Draft, run: Run, quiet: Quiet, sight: Sight) -> None:
    """Nudge a run that listens, up to the bound; then end it, to be run again."""
    if sight.listens and run.nudges < draft.limits.nudges:
        draft.change(RunNudged(run.id))
        draft.act(Nudge(id=draft.new_id("a"), run=run.id, text=_NUDGES.get(quiet, _NUDGE)))
        return
    end_run(draft, run, Ending.UNREPORTED if quiet is Quiet.UNREPORTED else Ending.SILENT)


def _ask_about_dialog(draft: Draft, run: Run, sight: Sight) -> None:
    """Ask a person to answer a dialog: nothing is ever typed into one. The agent waits, and holds up nobody else."""
    shown = "".join(f"\n    {line}" for line in sight.screen)
    text = (
        f"{run.instance} waits at a dialog on '{draft.step(run.step).title}' ({sight.dialog}). Answer it in its pane "
        f"(`task attach {draft.state.name}`), then answer this with {CONTINUE}.{shown}"
    )
    ask(draft, run.step, text, (CONTINUE, RETRY, SET_ASIDE, ABANDON), QuestionKind.DIALOG, run.id)
