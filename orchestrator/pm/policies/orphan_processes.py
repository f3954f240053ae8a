"""Processes that outlive a run's program: its program has ended, and processes that it started are still alive.

::

    program ended ─▶ nothing is left ─▶ gone: the step goes on
                 └▶ processes live ─▶ they are asked to end, then killed ─▶ gone, with the program's own exit
                                                                         └▶ after `termination_timeout`: a question

Until then the run is not gone: nothing else works in its tree, and no attempt is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Launch
from orchestrator.model.run import Ending, Life, Turn
from orchestrator.pm.plan.advance import end_run
from orchestrator.pm.state.run_changes import RunBelieved

if TYPE_CHECKING:
    from orchestrator.model.facts import RunLeft
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft

NAMED: Final = 5
"""How many of the processes a message names."""


def run_left(draft: Draft, fact: RunLeft) -> None:
    """Record which processes outlive a run's program, and end them. A run that is being ended goes on being ended."""
    run = draft.state.runs.get(fact.run)
    if run is None or not run.live or not fact.left or run.life is Life.UNREACHABLE:
        return  # for an unreachable box, this is reported again once it answers
    draft.close_actions(Launch, run=run.id)
    named = ", ".join(str(each) for each in fact.left[:NAMED])
    if len(fact.left) > NAMED:
        named += " and more"
    evidence = f"{fact.exit}, and left processes behind: {named}"
    if (run.exit, run.evidence) == (fact.exit, evidence):
        return  # recorded before
    believed = RunBelieved(
        run.id, Life.ALIVE, Turn.UNKNOWN, evidence, fact.at, fact.left[0].pid, exit=fact.exit
    )
    draft.change(believed)
    if run.ending is Ending.NOT:
        draft.notice(f"{run.instance} {evidence}; they are ended with its run")
        end_run(draft, run, Ending.LEFT)


def ended_by_itself(run: Run) -> bool:
    """Return whether a run's program ended by itself: the PM ended at most the processes that it left behind."""
    return run.ending in {Ending.NOT, Ending.LEFT}
