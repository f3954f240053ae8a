"""Runs that were told to end, and of which nobody can say that they are gone: a person says so (laws 5 and 8).

::

    told to end ─▶ killed each `end_grace` ─▶ gone
                └▶ for `unended` seconds it is not known to be: one question
                     gone       it is taken for lost, and its step goes on
                     continue   it is waited for as long again
                     set-aside  its step is given up, and what does not need that goes on

A process that cannot be killed is one reason; a box of which the folder of runs was emptied another: what lived there
may live still, and the files that would tell are lost.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Exit
from orchestrator.pm.handlers.run_lifecycle import take_for_gone
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.plan.asking import ABANDON, CONTINUE, SET_ASIDE, ask
from orchestrator.pm.state.run_changes import RunWatched

if TYPE_CHECKING:
    from orchestrator.model.limits import Limits
    from orchestrator.model.question import Question
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

GONE: Final = "gone"


def patience_ends(state: PMState, run: Run, limits: Limits) -> float:
    """Return when a person is asked about a run that was told to end; and again so long after they said to go on.

    Never while they are being asked, or the task is stopped.
    """
    asked = any(each.run == run.id and each.kind is QuestionKind.UNENDED for each in state.open_questions)
    if asked or state.state not in ACTIVE:
        return math.inf
    return max(run.ending_at or run.since, run.looked_at) + limits.termination_timeout


def ask_whether_gone(draft: Draft, run: Run) -> None:
    """Ask whether a run is gone, as nothing else can tell."""
    draft.change(RunWatched(run.id, draft.at))
    where = f"on {run.host}" if run.on_box else "here"
    text = (
        f"{run.instance} was told to end, and nothing tells that it is gone ({run.evidence}): its process cannot be "
        f"killed, or the files that would tell are lost. Until then nobody else works on "
        f"'{draft.step(run.step).title}'. See {where} that no process of it lives any more, and answer {GONE}; or "
        f"wait on ({CONTINUE})."
    )
    without = () if draft.step(run.step).settled else (SET_ASIDE,)
    ask(draft, run.step, text, (CONTINUE, GONE, *without, ABANDON), QuestionKind.UNENDED, run.id)


def whether_gone(draft: Draft, question: Question, text: str) -> None:
    """Take the answer. Whatever else is said than that it is gone: it is waited for."""
    if text.strip().lower() == GONE:
        known = draft.state.runs[
            question.run
        ].exit  # of its program, where only what it left behind is in doubt
        take_for_gone(draft, question.run, known or Exit(lost=True))
    else:
        draft.change(RunWatched(question.run, draft.at))
