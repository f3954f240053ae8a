"""Stalls: a run whose model sends nothing for too long is ended, and its conversation is resumed (U3).

::

    a call returned, or an order was received ─▶ waits for the model ─┬─ a record, an event ─▶ goes on
                                                                       ├─ more on the screen ─▶ goes on
                                                                       └─ nothing for `stall_timeout` ─▶ stalled
      stalled ─▶ ended ─▶ the same conversation ─▶ a new one, in the same tree ─▶ a question   [retries.py: stalled]

    Only what a program records or reports is a sign of life: a spinner keeps turning while a stream hangs, and a
    background process keeps writing files. A long answer is recorded only once it is complete, so the screen is looked
    at
    after each third of the time: if the answer grew there since, the model is alive [runtimes/screens.py: said_on]. A
    long tool call is no stall; the bounds of inactivity apply to it. A run that stalls again without a single result in
    between may just be writing a long call. It gets more time each time if its screen may hide that: some programs show
    nothing of a call until it is whole. If the screen would show an answer that comes, it gets no more time.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final

from orchestrator.formats.timestamps import MONTHS
from orchestrator.model.activity import Stage
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Purpose, Quiet
from orchestrator.pm.plan.acknowledgements import runs_again
from orchestrator.pm.plan.asking import withdraw
from orchestrator.pm.policies.repetition import goes_round, repeats
from orchestrator.pm.state.run_changes import RunProgressed, RunTraced

if TYPE_CHECKING:
    from orchestrator.model.activity import Activity
    from orchestrator.model.facts import ActivitySeen
    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Tally
    from orchestrator.model.run import Run, Sight
    from orchestrator.pm.state.draft import Draft

LOOKS: Final = 3
"""Looks within the shortest time after which a run counts as stalled."""

_SOON: Final = 60.0
"""Seconds between the record of the end of a turn and the report of its hook."""

_EARLY: Final = 0.1
"""Seconds by which a look may be early."""

_LONGEST: Final = 2
"""How often the time is doubled."""


def activity_seen(draft: Draft, fact: ActivitySeen) -> None:
    """Record what a program's transcript shows of a run."""
    run, seen = draft.state.runs.get(fact.run), fact.activity
    if run is None or not run.live:
        return
    grew, stage = seen.records != run.records, _believed(draft.limits, run, seen, fact.at)
    recorded_at = min(seen.recorded_at, fact.at) if grew else run.recorded_at
    novel_at = min(seen.novel_at, fact.at) if grew else run.novel_at
    returned_at = min(seen.returned_at, fact.at) if grew else run.returned_at
    evidence, since = "", clock(recorded_at, draft.state.utc_offset)
    if stage is Stage.TOOL and run.stage is not Stage.TOOL:
        evidence = f"runs a tool since {since}, by its records: {seen.tool}"
    elif grew and (_contradicts(run, seen) or run.stage is Stage.TOOL):
        evidence = f"went on at {since}, by its records"
    if grew or stage is not run.stage:
        change = RunTraced(run.id, fact.at, stage, seen.records, recorded_at, novel_at, evidence, returned_at)
        draft.change(change)
    if novel_at > run.progress_at:
        draft.change(RunProgressed(run.id, novel_at))
        withdraw(draft, run.step, run.id, QuestionKind.DIALOG)
    if works_again(draft.step(run.step).tally, run, seen):
        runs_again(draft, run)
    if repeats(run, seen, draft.limits):
        goes_round(draft, draft.state.runs[run.id], seen)


def is_worth_journaling(tally: Tally, limits: Limits, run: Run, seen: Activity, at: float) -> bool:
    """Return whether what the transcript of a live run shows must be journaled now (law 9).

    That is so if it differs from the state that is shown, if it makes a look at the run unnecessary, if the run goes
    round in circles, or if it works again after failures of its service, which are counted in `tally`.
    """
    if run.ending is not Ending.NOT or run.reported_at is not None:
        return False
    news = seen.records != run.records or _believed(limits, run, seen, at) is not run.stage
    shown = _contradicts(run, seen) or run.stage in {Stage.TOOL, Stage.UNKNOWN}
    due = at >= due_at(limits, run)
    again = repeats(run, seen, limits) or works_again(tally, run, seen)
    return (news and bool(seen.records) and (shown or due)) or again


def works_again(tally: Tally, run: Run, seen: Activity) -> bool:
    """Return whether a run got something new done after the service had failed: the next failure is not in a row."""
    return bool(tally.limits or tally.overloads) and seen.novel_at > run.opened_at


def due_at(limits: Limits, run: Run) -> float:
    """Return when to look at a run next because it waits for the model; infinity if it does not."""
    third = limits.stall_timeout / LOOKS
    if run.quiet is Quiet.DIALOG:
        return math.inf  # a person is being asked
    if run.stage is Stage.TOOL and run.looked_at < run.heard_at and not run.waits_for:
        return run.heard_at + third  # look once: it may be waiting at a dialog
    return max(run.heard_at, run.looked_at) + third if awaits_model(run) else math.inf


def awaits_model(run: Run) -> bool:
    """Return whether a run waits for its model, or ended its turn without reporting that."""
    silent_end = run.stage is Stage.OVER and run.event_at < run.recorded_at - _SOON
    waits = run.stage is Stage.MODEL or silent_end
    return waits and run.purpose is Purpose.WORK and not run.waits_for


def patience(tally: Tally, limits: Limits, run: Run, said: str) -> float:
    """Return how many seconds a run may wait for the model; `said` is the newest fingerprint of its screen."""
    if run.novel_at > run.since or shows_answers(said):
        return limits.stall_timeout
    return max(
        limits.stall_timeout,
        min(limits.stall_timeout * 2.0 ** min(tally.stalls, _LONGEST), limits.inactivity_timeout),
    )


def found(limits: Limits, run: Run, sight: Sight | None, longest: float, at: float) -> Quiet:
    """Return what a look at a run means that waits for the model.

    Args:
        limits: the task's limits.
        run: the run as it was known before the look.
        sight: what was seen; None if the look failed.
        longest: how many seconds the run may wait.
        at: the time of the look.

    """
    if run.stage is Stage.OVER:
        return Quiet.UNREPORTED
    if sight is not None and run.said_at >= run.heard_at and says_more(run.said, sight.said):
        return Quiet.ANSWERED
    # If its screen cannot be read, it may have gone on since the last time that it could.
    since = run.heard_at if sight is not None and sight.said else max(run.heard_at, run.screen_changed_at)
    # A look for another reason may follow directly on one that saw an answer (seed fresh-e6339317.98).
    quiet_long = at + _EARLY >= run.screen_changed_at + limits.stall_timeout / LOOKS
    return Quiet.STALLED if at >= since + longest and quiet_long else Quiet.WAITING


def shows_answers(said: str) -> bool:
    """Return whether, by a screen's fingerprint, it would show more if an answer came."""
    return "/" in said


def says_more(before: str, now: str) -> bool:
    """Return whether a screen shows more than before, by its fingerprints; a vanished count alone is not more."""
    if not (before and now):
        return False
    (text, _, count), (text_now, _, count_now) = before.partition("/"), now.partition("/")
    return text != text_now or (bool(count and count_now) and count != count_now)


def _contradicts(run: Run, seen: Activity) -> bool:
    """Return whether new records refute what a look found; more of the same repetition does not."""
    return run.quiet is not None and (run.quiet is not Quiet.REPEATING or seen.novel_at > run.novel_at)


def _believed(limits: Limits, run: Run, seen: Activity, at: float) -> Stage:
    """Return the believed stage of a run. Whether a tool or the model works matters only once it takes long."""
    takes_long = seen.records == run.records or at >= due_at(limits, run)
    return seen.stage if takes_long or seen.stage is Stage.OVER else Stage.MODEL


def clock(at: float, utc_offset: int) -> str:
    """Return a moment as a person reads it, in the time zone `utc_offset` seconds ahead of UTC.

    With its day: what it is part of may be shown for days, and not only on that one.
    """
    then = time.gmtime(at + utc_offset)
    return f"{then.tm_mday} {MONTHS[then.tm_mon - 1]} {then.tm_hour:02}:{then.tm_min:02}:{then.tm_sec:02}"
