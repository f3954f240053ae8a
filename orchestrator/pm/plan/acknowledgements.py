"""Recording what an agent program reported, and answering it (law 4: each repetition gets the same answer)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Answer
from orchestrator.model.event import Reply, Say
from orchestrator.model.question import QuestionKind
from orchestrator.pm.plan.asking import withdraw
from orchestrator.pm.state.overloads import recovered
from orchestrator.pm.state.run_changes import RunAnswered, RunSignalled
from orchestrator.pm.state.step_changes import StepLimited, StepTallied

if TYPE_CHECKING:
    from orchestrator.model.facts import AnswerGiven, EventLanded
    from orchestrator.model.run import Run, Turn
    from orchestrator.pm.state.draft import Draft


LEAVING: Final = Reply(Say.DENY, "This run is being ended: nothing more may be done.")
"""The answer to a program that asks for permission while its run is being ended."""


def record_event(
    draft: Draft,
    run: Run,
    fact: EventLanded,
    turn: Turn,
    evidence: str,
    *,
    waits: bool = False,
    alive: bool = True,
) -> None:
    """Record an event and the resulting state of its run. Not `alive`: its model does not answer."""
    event = fact.event
    draft.change(
        RunSignalled(
            run.id, fact.name, turn, evidence, fact.at, event.session, event.transcript, waits, alive
        )
    )


def answer(draft: Draft, run: Run, name: str, reply: Reply) -> None:
    """Answer an event, and stop its run from waiting for that answer."""
    draft.act(Answer(id=draft.new_id("a"), run=run.id, name=name, reply=reply))
    if draft.state.runs[run.id].waits_for == name:
        draft.change(RunAnswered(run.id, draft.at))


def let_go(draft: Draft, run: Run, reply: Reply = LEAVING) -> None:
    """Withdraw the permission question that a run waits for, if any, and answer its program with `reply`."""
    if run.waits_for:
        withdraw(draft, run.step, run.id, QuestionKind.PERMISSION)
        answer(draft, run, run.waits_for, reply)


def answer_given(draft: Draft, fact: AnswerGiven) -> None:
    """The answer was written to where the program looks for it."""
    draft.close_actions(Answer, id=fact.action)


def runs_again(draft: Draft, run: Run) -> None:
    """The model's service answered: reset the counts of failures in a row."""
    tally = draft.step(run.step).tally
    if tally.limits or tally.overloads:
        draft.change(StepTallied(run.step, recovered(replace(tally, limits=0))))
        if draft.step(run.step).limit is not None:
            draft.change(StepLimited(run.step))
        draft.notice(f"{run.instance} runs again")
