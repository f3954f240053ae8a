"""Boxes that become unreachable and come back: their runs are unreachable meanwhile, never dead (law 5).

A box may not answer, or it may answer and nothing about its runs can be fetched: to the PM that is the same.

::

    lost ─▶ its runs are unreachable: none is timed out, none is started again
         ─▶ refused, or for `unreachable_timeout` seconds ─▶ one question per box, however many runs it has
    back ─▶ its runs live on as before; their timers begin anew
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending, Life, Run
from orchestrator.pm.plan.advance import ACTIVE
from orchestrator.pm.plan.asking import ABANDON, CONTINUE, SET_ASIDE, ask, withdraw_question
from orchestrator.pm.state.run_changes import RunBelieved, RunProgressed, RunWatched

if TYPE_CHECKING:
    from orchestrator.model.facts import BoxBack, BoxLost
    from orchestrator.model.limits import Limits
    from orchestrator.pm.state.draft import Draft


def box_lost(draft: Draft, fact: BoxLost) -> None:
    """Mark the runs on a box as unreachable; if only a person can help, ask once."""
    there = _runs_on(draft, fact.box)
    for run in there:
        lost = run.life is Life.UNREACHABLE
        if not lost or run.evidence != fact.why:
            since = run.since if lost else fact.at
            draft.change(RunBelieved(run.id, Life.UNREACHABLE, run.turn, fact.why, since))
    if fact.refused:
        _ask(draft, there, f"{fact.why}. Fix it, then answer {CONTINUE}.")


def box_back(draft: Draft, fact: BoxBack) -> None:
    """Go on with the runs on a box as if no time had passed: the agents there noticed nothing."""
    for run in _runs_on(draft, fact.box):
        if run.life is Life.UNREACHABLE:
            life = Life.STARTING if run.pid is None else Life.ALIVE
            draft.change(RunBelieved(run.id, life, run.turn, f"{fact.box} answers again", fact.at))
            draft.change(RunProgressed(run.id, fact.at))
    for question in draft.state.open_questions:
        if question.kind is QuestionKind.BOX and draft.state.runs[question.run].host == fact.box:
            withdraw_question(draft, question)


def patience_ends(run: Run, limits: Limits) -> float:
    """Return when to ask a person about an unreachable run, and again as long after the answer to wait."""
    return max(run.since, run.progress_at, run.looked_at) + limits.unreachable_timeout


def ask_about(draft: Draft, run: Run) -> None:
    """Ask whether to keep waiting for a box that has not answered for long."""
    there = _runs_on(draft, run.host)
    text = (
        f"{run.evidence}. Its agents go on there, and their files are fetched as soon as possible: "
        f"wait for that ({CONTINUE}), or go on without?"
    )
    _ask(draft, there, text)
    draft.change(*(RunWatched(each.id, draft.at) for each in there))


def _ask(draft: Draft, there: list[Run], text: str) -> None:
    """Ask one question for all runs of a box, unless none of them blocks anything."""
    there = [run for run in there if _is_waited_for(draft, run)]
    asked = {question.run for question in draft.state.open_questions if question.kind is QuestionKind.BOX}
    if there and draft.state.state in ACTIVE and not asked.intersection(run.id for run in there):
        options = (CONTINUE, SET_ASIDE, ABANDON)
        ask(draft, there[0].step, text, options, QuestionKind.BOX, there[0].id)


def _is_waited_for(draft: Draft, run: Run) -> bool:
    """Return whether a step waits for a run, or for the end of a run that is to be repeated."""
    ended = run.ending is not Ending.NOT
    return not ended or (run.reported_at is None and not draft.step(run.step).settled)


def _runs_on(draft: Draft, box: str) -> list[Run]:
    return [run for run in draft.state.live_runs if run.host == box]
