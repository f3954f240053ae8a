"""What a run leaves behind: its program has ended, and processes that it started live. They are ended with it.

::

    program ended ─▶ nothing is left ─▶ gone: the step goes on
                  └▶ processes live ─▶ they are asked to end, then killed ─▶ gone, by the program's own exit
                                                                        └▶ after `unended` seconds: a question

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
"""How many of the processes are named to people."""


def run_left(draft: Draft, fact: RunLeft) -> None:
    """Take note of what outlives a run's program, and end it. A run that is being ended goes on being ended."""
    run = draft.state.runs.get(fact.run)
    if run is None or not run.live or not fact.left or run.life is Life.UNREACHABLE:
        return  # of one on a box that is not reached it is told again when that answers
    draft.close_actions(Launch, run=run.id)
    named = ", ".join(str(each) for each in fact.left[:NAMED])
    if len(fact.left) > NAMED:
        named += " and more"
    evidence = f"{fact.exit}, and left processes behind: {named}"
    if (run.exit, run.evidence) == (fact.exit, evidence):
        return  # it was heard before
    believed = RunBelieved(
        run.id, Life.ALIVE, Turn.UNKNOWN, evidence, fact.at, fact.left[0].pid, exit=fact.exit
    )
    draft.change(believed)
    if run.ending is Ending.NOT:
        draft.notice(f"{run.instance} {evidence}; they are ended with its run")
        end_run(draft, run, Ending.LEFT)


def ended_by_itself(run: Run) -> bool:
    """Return whether a run's program was not ended by the PM: only what it left behind was, if anything."""
    return run.ending in {Ending.NOT, Ending.LEFT}
