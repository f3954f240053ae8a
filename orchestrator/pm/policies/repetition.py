"""Going round in circles: an agent is told so once, then a fresh one goes on, then a person is asked (law 8).

Which calls repeat themselves its program's records tell [tracing.py]. What an agent is told it reads in place of its
next tool call, by a hook: nothing is typed.
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

_TOLD: Final = (
    "The PM sees that you go round in circles: {times} calls in a row brought back what they had brought back before, "
    "most often `{what}`. The same again will bring the same. This call was not carried out; make it again if it is "
    "another one. Take a different approach; if you wait for something, wait longer each time; if you cannot get on, "
    "hand in BLOCKED with the reason."
)


def repeats(run: Run, seen: Activity, limits: Limits) -> bool:
    """Return whether a run has made so many vain calls in a row that something is to be done about it."""
    return seen.repeats >= limits.max_repeated_calls and run.ending is Ending.NOT and run.reported_at is None


def goes_round(draft: Draft, run: Run, seen: Activity) -> None:
    """Tell an agent that it goes round in circles; one that was told is ended, and goes up the ladder of setbacks."""
    step = draft.step(run.step)
    if (step.attempt, step.state) != (run.attempt, StepState.WORKING) or draft.state.state not in ACTIVE:
        return
    draft.change(RunCautioned(run.id, seen.repeated, draft.at))
    draft.notice(f"{run.instance} repeats itself: {seen.repeats} calls in a row, most often {seen.repeated}")
    if run.cautioned_at:
        end_run(draft, draft.state.runs[run.id], Ending.REPEATING)
        return
    told = Reply(Say.CAUTION, _TOLD.format(times=seen.repeats, what=seen.repeated))
    draft.act(Answer(id=draft.new_id("a"), run=run.id, name=CAUTION, reply=told))
