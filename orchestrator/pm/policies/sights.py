"""What a look at a quiet run means, and the words for it: structured signs first, the screen last (law 12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.activity import Stage
from orchestrator.model.run import Quiet
from orchestrator.pm.policies import stalls
from orchestrator.pm.policies.stalls import clock

if TYPE_CHECKING:
    from orchestrator.model.limits import Limits
    from orchestrator.model.run import Run, Sight

BUSY_SHARE: Final = 0.01
"""A run that used less of one processor than this share did not compute: clocks and spinners use some."""

_EVIDENCE: Final = {
    Quiet.MOVING: "changed files at {changed}",
    Quiet.PRINTING: "showed something new on its screen ({printed} bytes in all)",
    Quiet.COMPUTING: "computes and shows nothing{used}",
    Quiet.SPINNING: "repeats itself on its screen{used}",
    Quiet.DIALOG: "waits at a dialog: {dialog}{line}",
    Quiet.UNASKED: "waits at a dialog that its hook did not report: {dialog}{line}",
    Quiet.FAILED: "shows that its turn failed:{line}",
    Quiet.WAITING: "waits for its model's answer; since {heard} neither its hooks nor its records show anything",
    Quiet.ANSWERED: "its model answers: its screen shows more than at {said}",
    Quiet.STALLED: "waits for its model's answer in vain since {heard}: no event, no record, {screen}",
    Quiet.REPEATING: "since {progress} none of its calls brought back anything new{used}",
    Quiet.HUNG: "shows nothing and does nothing{used}",
    Quiet.UNSURE: "gave no sign of work since {progress}; the next look will show whether its screen changes",
    Quiet.UNKNOWN: "could not be looked at",
}


def found(run: Run, sight: Sight | None, limits: Limits, at: float, longest: float) -> Quiet:
    """Return what a sight means.

    Args:
        run: the run as it was known before the look.
        sight: what was seen; None where it could not be looked at.
        limits: how long what may last.
        at: the moment of the look.
        longest: for how many seconds the run may wait for its model.

    """
    for_model = stalls.awaits_model(run) and at >= run.heard_at + longest / stalls.LOOKS
    if sight is None:
        stalled = for_model and stalls.found(limits, run, None, longest, at) is Quiet.STALLED
        return Quiet.STALLED if stalled else Quiet.UNKNOWN
    if newer_sign(run, sight.changed_at, at) is not None and not for_model:
        return Quiet.MOVING
    if sight.failure is not None:
        return Quiet.FAILED
    if sight.dialog:
        return Quiet.UNASKED if sight.asks and run.delivery is not None else Quiet.DIALOG
    if for_model:
        return stalls.found(limits, run, sight, longest, at)
    return _of_records(run, limits, at) or _of_output(run, sight, limits, at)


def newer_sign(run: Run, seen_at: float, at: float) -> float | None:
    """Return when a run gave a sign of work, in counted time; None if that is no newer than its last sign.

    A sign from before the machine slept may be seen only afterwards (the simulation's seed fresh.309).

    Args:
        run: the run as it was known before.
        seen_at: when the sign was given, in seconds since the epoch.
        at: when the sign was noticed, in seconds since the epoch.

    """
    moments = min(seen_at, at), min(seen_at + run.uncounted, at)
    return next((moment for moment in moments if moment > run.progress_at), None)


def evidence_of(quiet: Quiet, sight: Sight, run: Run, utc_offset: int) -> str:
    """Return what was seen, in words: what, since when, from which source (law 12)."""
    used = "" if sight.cpu is None else f"; {sight.cpu:.0f} s of processor time in all"
    if quiet is Quiet.TOOL:
        return run.evidence
    if quiet is Quiet.UNREPORTED and sight.artifacts:
        return f"left {', '.join(sight.artifacts[:3])} and no handoff{used}"
    if quiet is Quiet.UNREPORTED:
        return (
            f"ended its turn at {clock(run.recorded_at, utc_offset)}, by its records, and did not report it"
        )
    return _EVIDENCE[quiet].format(
        used=used,
        changed=clock(sight.changed_at, utc_offset),
        heard=clock(run.heard_at, utc_offset),
        progress=clock(run.progress_at, utc_offset),
        said=clock(run.said_at, utc_offset),
        printed=sight.printed,
        dialog=sight.dialog,
        line=f" '{sight.line}'" if sight.line else "",
        screen="nothing new on its screen" if sight.said else "and its screen is not known",
    )


def _of_records(run: Run, limits: Limits, at: float) -> Quiet | None:
    if not run.records:
        return None
    under_way = (
        run.stage is Stage.TOOL and run.returned_at <= run.progress_at
    )  # whether it brings anything new is not known yet
    if at < (run.recorded_at if under_way else run.progress_at) + limits.inactivity_timeout:
        return Quiet.TOOL if run.stage is Stage.TOOL else Quiet.UNSURE
    return Quiet.REPEATING if run.recorded_at > run.progress_at and not under_way else None


def _of_output(run: Run, sight: Sight, limits: Limits, at: float) -> Quiet:
    if sight.said and not (run.said and at >= run.said_at + limits.stall_timeout / stalls.LOOKS):
        return Quiet.UNSURE
    new = stalls.says_more(run.said, sight.said) if sight.said else sight.fresh
    if new and sight.printed > run.printed:
        return Quiet.PRINTING
    since = limits.inactivity_timeout if run.cpu is None else limits.look_interval
    if sight.cpu is not None and sight.cpu - (run.cpu or 0.0) >= BUSY_SHARE * since:
        return Quiet.COMPUTING
    if sight.printed > run.printed and run.cpu is not None:
        return Quiet.SPINNING
    if sight.artifacts:
        return Quiet.UNREPORTED
    return Quiet.SPINNING if sight.printed > run.printed and run.looks > 1 else Quiet.HUNG
