"""Going round in circles: an agent is warned once, then a new conversation continues, then a person is asked (law 8).

Repeated calls show in its program's records [tracing.py]. The agent reads the warning in place of its next tool call,
by a hook: nothing is typed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Answer
from orchestrator.model.event import CAUTION, Reply, Say
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending
from orchestrator.pm.plan.advance import ACTIVE, end_run
from orchestrator.pm.state.run_changes import RunCautioned

if TYPE_CHECKING:
    from orchestrator.model.activity import Activity
    from orchestrator.model.limits import Limits
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft

_WARNING: Final = (
    "The PM sees that you are going round in circles: {times} calls in a row brought back the same "
    "results as before, most often `{what}`. They will bring nothing new. This call was not carried out; make it again "
    "if it is a different one. Take a different approach; if you wait for something, wait longer each time; if you "
    "cannot get on, hand in BLOCKED with the reason."
)


def repeats(run: Run, seen: Activity, limits: Limits) -> bool:
    """Return whether a run has made so many repeated calls in a row that the PM must act."""
    return seen.repeats >= limits.max_repeated_calls and run.ending is Ending.NOT and run.reported_at is None


def goes_round(draft: Draft, run: Run, seen: Activity) -> None:
    """Warn an agent that it goes round in circles; end it if it was warned before, to be retried otherwise."""
    step = draft.step(run.step)
    if (step.attempt, step.state) != (run.attempt, StepState.WORKING) or draft.state.state not in ACTIVE:
        return
    draft.change(RunCautioned(run.id, seen.repeated, draft.at))
    draft.notice(f"{run.instance} repeats itself: {seen.repeats} calls in a row, most often {seen.repeated}")
    if run.cautioned_at:
        end_run(draft, draft.state.runs[run.id], Ending.REPEATING)
        return
    warning = Reply(Say.CAUTION, _WARNING.format(times=seen.repeats, what=seen.repeated))
    draft.act(Answer(id=draft.new_id("a"), run=run.id, name=CAUTION, reply=warning))
