"""Edits of files while a task runs: notes of a workflow as they land, and what is put back, of roles too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow_records import Session, Writer
from orchestrator.pm.plan.handing_on import PUT_BACK, receiving_step
from orchestrator.pm.policies.reopen import FEEDBACK_KEPT
from orchestrator.pm.state.note_changes import accepted_notes
from orchestrator.pm.state.step_changes import StepFed
from orchestrator.pm.state.workflow_changes import AgentRecorded

if TYPE_CHECKING:
    from orchestrator.model.facts import EditsRefused, NotesLanded
    from orchestrator.pm.state.draft import Draft

_NAMED: Final = 10
_PUT_BACK_KEPT: Final = 3


def notes_landed(draft: Draft, fact: NotesLanded) -> None:
    """Take the changes of notes that their writer may make.

    What a run may not change is put back when its turn ends, and its next order names it. Where no run of the agent
    lives, nobody knows who wrote it: it is put back now, and the user reads of it.
    """
    record = draft.state.records.get(fact.agent, AgentRecord())
    base = record.session or Session(fact.session.task_id, fact.session.session_start)
    session, refused = accepted_notes(base, fact.session, Writer.OWN_RUN if fact.own else Writer.UNKNOWN)
    if session != record.session:
        draft.change(AgentRecorded(fact.agent, replace(record, session=session)))
    if refused and not fact.own:
        named = ", ".join(f"{each.note or 'the session'} ({each.reason})" for each in refused[:_NAMED])
        draft.notice(f"changes of the notes of {fact.agent} by somebody unknown are put back: {named}")


def edits_refused(draft: Draft, fact: EditsRefused) -> None:
    """Tell the user what was written into a file and is put back; of a handoff also, in its next order, its receiver.

    Who wrote it nobody knows, but the receiver is the one that may edit the file.
    """
    edits = "; ".join(fact.edits[:_NAMED])
    draft.notice(f"put back in {fact.file}: {edits}")
    record = draft.state.handoffs.get(fact.handoff)
    receiver = receiving_step(draft.state, record) if record is not None else None
    if receiver is not None:
        _tell(draft, receiver, f"{PUT_BACK}an edit of {fact.file}, which was not accepted: {edits}.")


def _tell(draft: Draft, step: str, text: str) -> None:
    """Tell a step of an edit that was put back. Only the newest of these stay: they are not to drive out reasons."""
    told = draft.step(step).feedback
    before = [each for each in told if each.startswith(PUT_BACK) and each != text]
    dropped = {text, *before[: 1 - _PUT_BACK_KEPT]}
    kept = (*(each for each in told if each not in dropped), text)
    draft.change(StepFed(step, kept[-FEEDBACK_KEPT:]))
