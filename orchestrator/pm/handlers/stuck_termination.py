"""Runs that were asked to end and cannot be confirmed as gone: a person confirms it (laws 5 and 8).

::

    asked to end ─▶ killed each `end_grace` ─▶ gone
                 └▶ not confirmed for `limits.termination_timeout`: one question
                      gone       the run counts as lost, and its step goes on
                      continue   the PM waits for as long again
                      set-aside  its step is given up, and what does not depend on it goes on

One cause is a process that cannot be killed. Another is a box whose runs folder was emptied: the processes may still
live there, and the files that would show it are lost.
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
    """Return when to ask a person about a run that was asked to end, and again as long after the answer to wait.

    Never while that question is open, or while the task is stopped.
    """
    asked = any(each.run == run.id and each.kind is QuestionKind.TERMINATION for each in state.open_questions)
    if asked or state.state not in ACTIVE:
        return math.inf
    return max(run.ending_at or run.since, run.looked_at) + limits.termination_timeout


def ask_whether_gone(draft: Draft, run: Run) -> None:
    """Ask a person whether a run is gone, as nothing else can show it."""
    draft.change(RunWatched(run.id, draft.at))
    where = f"on {run.host}" if run.on_box else "here"
    text = (
        f"{run.instance} was asked to end, and nothing confirms that it is gone ({run.evidence}): its process "
        f"cannot be killed, or the files that would show it are lost. Until then nobody else works on "
        f"'{draft.step(run.step).title}'. Make sure {where} that none of its processes is alive, then answer {GONE}; "
        f"or keep waiting ({CONTINUE})."
    )
    without = () if draft.step(run.step).settled else (SET_ASIDE,)
    ask(draft, run.step, text, (CONTINUE, GONE, *without, ABANDON), QuestionKind.TERMINATION, run.id)


def whether_gone(draft: Draft, question: Question, text: str) -> None:
    """Handle the answer. Any answer but `gone` means to keep waiting."""
    if text.strip().lower() == GONE:
        known = draft.state.runs[
            question.run
        ].exit  # known if only processes that it left behind are in doubt
        take_for_gone(draft, question.run, known or Exit(lost=True))
    else:
        draft.change(RunWatched(question.run, draft.at))
