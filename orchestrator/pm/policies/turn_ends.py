"""What the end of a turn means, where agents hand in by their files (the WF document; docs/explanation/workflows.md).

One table, from what the daemon found to the report that it writes for the run. The first row that fits decides:

==============================================  =====================================================================
found                                           then
==============================================  =====================================================================
a file that cannot be read, a stale session     asked
an escalated note                               blocked, whatever else is claimed
blocked, open notes                             blocked: they are escalated
blocked, no unresolved note                     asked; then blocked: its last words are escalated
review or ready, open notes                     asked; then blocked: they are escalated
ready; session, outputs or evidence missing     asked
a status that it may not give itself            asked
still working, or in review                     asked
ready, and all holds                            complete
==============================================  =====================================================================

Of a verifier: a results file is a rejection, even beside `verified`; `verified` without one is an approval; neither is
asked. An approval of outputs that were changed since they were handed in is void. Of a proof of concept the decision
file counts in place of `verified`: `proceed` passes, `adapt` and `ask` are the user's to decide.

*Asked* means one more run with the reason, within `bounds.asks`; then a question.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.handoff import Report, ReportStatus, Verdict
from orchestrator.model.limits import bounded
from orchestrator.model.note_numbers import free_id
from orchestrator.model.plan import Gate
from orchestrator.model.turn_end import AgentRecord, TurnEnd
from orchestrator.model.workflow_records import (
    AgentStatus,
    Note,
    NoteKind,
    NoteStatus,
    PocDecision,
    Resolver,
    Session,
    Writer,
)
from orchestrator.pm.plan.checkpoints import left_to_judge
from orchestrator.pm.policies.kept_turns import keep_hand_in, keep_verdict
from orchestrator.pm.policies.reopen import feed
from orchestrator.pm.state.note_changes import Forbidden, accepted_notes, unresolved
from orchestrator.pm.state.workflow_changes import AgentRecorded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.model.turn_end import SubjectEnd
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

NAMED: Final = 20
"""How many files, notes or missing pieces a report names."""

_DONE: Final = frozenset({AgentStatus.REVIEW, AgentStatus.READY})
_NOT_BY_ITSELF: Final = frozenset({AgentStatus.VERIFIED, AgentStatus.FAILED, AgentStatus.COMPLETE})
_WHY: Final = {
    Forbidden.REMOVED: "nobody removes a note",
    Forbidden.RESOLVED_CHANGED: "a resolved note stays as it is",
    Forbidden.NOT_OWN: "only its own agent may change it",
    Forbidden.NEEDS_OTHERS: "it is not yours to resolve: escalate it",
    Forbidden.FOREIGN_RESOLVER: "you can only resolve it as agent_self",
    Forbidden.SESSION_CHANGED: "its task and its beginning stay",
}
_OF_DECISION: Final = {
    PocDecision.PROCEED: Verdict.PROCEED,
    PocDecision.ADAPT: Verdict.ADAPT,
    PocDecision.ASK: Verdict.ASK,
}
_UNCHANGED: Final = "its work is in task_output/"
_NOTHING_SAID: Final = "it ended its turn as blocked, and said nothing more"


def hands_in_by_files(step: Step) -> bool:
    """Return whether a run of a step hands in by its files, read when its turn ends, and not by a handoff."""
    return bool({Gate.NOTES, Gate.MEMORY} & set(step.gates))


def report_of(state: PMState, run: Run, turn: TurnEnd, limits: Limits) -> Report:
    """Return the report of a run, by what it left when its turn ended."""
    step = state.steps[run.step]
    asks_left = step.tally.asks < bounded(limits, step.bounds).max_report_requests
    session, refused = _accepted(state, step, turn)
    subjects = turn.subjects if asks_left else tuple(_given_up(state, each) for each in turn.subjects)
    turn = replace(turn, session=session, refused=refused, subjects=subjects)
    report = _judged(state, step, turn, asks_left=asks_left)
    return replace(report, run=run.id, in_reply_to=run.order, turn=turn)


def holds(report: Report) -> bool:
    """Return whether the files of a run say all that is needed, so that it does not matter how its process ended."""
    return report.status is not ReportStatus.IN_PROGRESS


def record_turn(draft: Draft, step: str, report: Report) -> None:
    """Record the notes that an agent left; where it is blocked, each unresolved one waits for others from now on."""
    turn, here = report.turn, draft.step(step)
    if turn is None:
        return
    was = draft.state.records.get(here.agent, AgentRecord())
    session = turn.session or was.session
    if report.status is ReportStatus.BLOCKED and session is not None:
        session = _escalated(session, report.blockers, int(draft.at))
    record = replace(was, session=session)
    if {Gate.OUTPUTS, Gate.MEMORY} & set(here.gates) and report.status is ReportStatus.COMPLETE:
        record = replace(record, outputs=turn.outputs, version=turn.version, answer=turn.answer)
        if Gate.OUTPUTS in here.gates:
            keep_hand_in(draft, here.agent, report.run or "", turn)
    if record != was:
        draft.change(AgentRecorded(here.agent, record))
    for subject in turn.subjects:
        if subject.judgement is not None:
            known = draft.state.records.get(subject.agent, AgentRecord())
            draft.change(AgentRecorded(subject.agent, replace(known, judgement=subject.judgement)))
        if report.status is ReportStatus.COMPLETE and (subject.missing or not doubt(draft.state, subject)):
            keep_verdict(draft, here.agent, report.run or "", subject)
    if turn.refused:
        put_back = "; ".join(turn.refused[:NAMED])
        draft.notice(f"changes of the notes of {here.agent} are put back: {put_back}")
        feed(draft, step, f"These changes of your notes were put back: {put_back}.")


def resolve_notes(draft: Draft, step: str, answer: str) -> None:
    """Write an answer of the user into the notes of the agent that asked."""
    record = draft.state.records.get(draft.step(step).agent)
    if record is None or record.session is None or not hands_in_by_files(draft.step(step)):
        return
    escalated = (each.id for each in record.session.notes if each.status is NoteStatus.ESCALATED)
    write_answers(draft, step, dict.fromkeys(escalated, (answer, Resolver.USER)))


def write_answers(draft: Draft, step: str, answers: Mapping[str, tuple[str, Resolver]]) -> None:
    """Write answers into the escalated notes of a step's agent, by their ids: each with who gave it."""
    record = draft.state.records.get(draft.step(step).agent)
    if record is None or record.session is None:
        return
    notes = tuple(
        replace(
            note,
            status=NoteStatus.RESOLVED,
            resolution=answers[note.id][0],
            resolved_by=answers[note.id][1],
            resolution_timestamp=int(draft.at),
        )
        if note.status is NoteStatus.ESCALATED and note.id in answers
        else note
        for note in record.session.notes
    )
    session = replace(record.session, notes=notes)
    if session != record.session:
        draft.change(AgentRecorded(draft.step(step).agent, replace(record, session=session)))


def _accepted(state: PMState, step: Step, turn: TurnEnd) -> tuple[Session | None, tuple[str, ...]]:
    """Return an agent's session with those changes of its notes that it may make itself, and what is put back."""
    known = state.records.get(step.agent, AgentRecord()).session
    if turn.session is None:
        return None, ()
    base = known or Session(turn.session.task_id, turn.session.session_start)
    session, refusals = accepted_notes(base, turn.session, Writer.OWN_RUN)
    return session, tuple(f"{each.note or 'the session'}: {_WHY[each.reason]}" for each in refusals)


def _judged(state: PMState, step: Step, turn: TurnEnd, *, asks_left: bool) -> Report:
    if turn.faults:
        return _ask("; ".join(turn.faults[:NAMED]))
    if turn.stale:
        return _ask(
            f"completion_drive/session_current.json belongs to the task {turn.stale}: begin one for your own task"
        )
    notes = tuple(unresolved(turn.session)) if turn.session else ()
    if any(note.status is NoteStatus.ESCALATED for note in notes):
        return _blocked(notes)
    if turn.subjects:
        return _verdict(state, turn)
    if Gate.RESOLUTION in step.gates:
        return _resolution(step, turn)
    return _work(turn, notes, asks_left=asks_left)


def _work(turn: TurnEnd, notes: tuple[Note, ...], *, asks_left: bool) -> Report:
    claim = turn.claim
    if claim is AgentStatus.BLOCKED and notes:
        return _blocked(notes)
    if claim is AgentStatus.BLOCKED:
        why = "your status is blocked, and no note of yours is open: write a note that says what you wait for"
        return _ask(why) if asks_left else Report(ReportStatus.BLOCKED, blockers=turn.words or _NOTHING_SAID)
    if claim in _DONE and notes:
        why = f"these notes are open: {_named(notes)}. Resolve each yourself, or escalate it"
        return _ask(why) if asks_left else _blocked(notes)
    if claim is AgentStatus.READY:
        return _ready(turn)
    if claim in _NOT_BY_ITSELF:
        return _ask(f"your status in shared_status.json is {claim}, which only others set: {_HOW}")
    said = claim.value if claim else "missing"
    return _ask(f"your turn is over, and your status in shared_status.json is {said}: {_HOW}")


_HOW: Final = (
    "set ready_for_verification if you are done, or blocked with an escalated note if you cannot go on"
)


def _ready(turn: TurnEnd) -> Report:
    missing = [*turn.missing, *([] if turn.session else ["completion_drive/session_current.json"])]
    if missing:
        return _ask(f"you are ready for verification, and these are missing: {', '.join(missing[:NAMED])}")
    made = ", ".join(path for path, _ in turn.outputs[:NAMED])
    return Report(
        ReportStatus.COMPLETE,
        completed=f"Ready for verification. In task_output/: {made or 'nothing'}.",
        unchanged=_UNCHANGED if turn.outputs else "",
    )


def _resolution(step: Step, turn: TurnEnd) -> Report:
    if turn.resolution is None:
        return _ask(f"your turn is over, and your file is missing: {step.done_when}")
    return Report(ReportStatus.COMPLETE, completed=f"Answered: {len(turn.resolution.items)} notes.")


def _verdict(state: PMState, turn: TurnEnd) -> Report:
    """Return a verifier's report: one subject that fails is a rejection, a pass wants all of them verified."""
    failed = [subject for subject in turn.subjects if subject.missing]
    if failed:
        return Report(ReportStatus.COMPLETE, Verdict.REJECTED, completed=missing_said(failed))
    if doubts := [why for subject in turn.subjects if (why := doubt(state, subject))]:
        return _ask("; ".join(doubts))
    if (judgement := turn.subjects[0].judgement) is not None:
        return Report(ReportStatus.COMPLETE, _OF_DECISION[judgement.decision], completed=judgement.rationale)
    names = ", ".join(subject.agent for subject in turn.subjects)
    return Report(ReportStatus.COMPLETE, Verdict.APPROVED, completed=f"Verified: {names}.")


def missing_said(failed: Sequence[SubjectEnd]) -> str:
    """Return what a verifier missed, as feedback."""
    listed = "\n".join(f"- {each}" for subject in failed for each in subject.missing[:NAMED])
    return f"This evidence is missing:\n{listed}"


def doubt(state: PMState, subject: SubjectEnd) -> str:
    """Return why a verifier's word on an agent is no pass; empty if it is one."""
    if subject.fault:
        return subject.fault
    if subject.tries and subject.judgement is None:
        return f"your turn is over without a decision on {subject.agent}: write its poc_decision.json"
    if not subject.tries and subject.claim is not AgentStatus.VERIFIED:
        return (
            f"your turn is over without a verdict on {subject.agent}: set its status to verified, or write its "
            f"verification_results.json"
        )
    if _is_changed(state, subject):
        return f"the outputs of {subject.agent} were changed while you judged, and are put back: judge them again"
    return ""


def _is_changed(state: PMState, subject: SubjectEnd) -> bool:
    """Return whether an agent's outputs are others than those that it handed in."""
    return state.records.get(subject.agent, AgentRecord()).version != subject.version


def _given_up(state: PMState, subject: SubjectEnd) -> SubjectEnd:
    """Return what counts of a last verdict: on outputs that were changed, or lost, it is that they are missing."""
    if subject.missing or subject.fault or not _is_changed(state, subject):
        return subject
    why = "the outputs as they were handed in: they were changed or lost again while they were judged"
    return replace(subject, missing=(why,))


def subjects_of(state: PMState, step: Step) -> tuple[str, ...]:
    """Return the agents whose work a step judges now: at a checkpoint those that have not passed yet."""
    if step.judges:
        return (step.subtask,)
    return left_to_judge(state, step) if Gate.CHECKPOINT in step.gates else ()


def _blocked(notes: tuple[Note, ...]) -> Report:
    return Report(ReportStatus.BLOCKED, blockers="\n".join(_said(notes)))


def _said(notes: tuple[Note, ...]) -> Iterator[str]:
    for note in notes[:NAMED]:
        kind = f" ({note.kind})" if note.kind is not NoteKind.NONE else ""
        why = f" - {note.escalation_reason}" if note.escalation_reason else ""
        yield f"{note.id}{kind}: {note.description}{why}"


def _named(notes: tuple[Note, ...]) -> str:
    return ", ".join(note.id for note in notes[:NAMED])


def _ask(why: str) -> Report:
    return Report(ReportStatus.IN_PROGRESS, completed=why)


def _escalated(session: Session, words: str, at: int) -> Session:
    """Return a session whose unresolved notes are escalated; if there is none, with a note of the last words."""
    reason = "the agent ended its turn as blocked"
    notes = tuple(
        replace(note, status=NoteStatus.ESCALATED, escalation_reason=note.escalation_reason or reason)
        if note.status is NoteStatus.OPEN
        else note
        for note in session.notes
    )
    if not any(note.status is NoteStatus.ESCALATED for note in notes):
        free = free_id({each.id for each in notes})
        added = Note(free, at, words, "", NoteStatus.ESCALATED, escalation_reason="it is blocked")
        notes = (*notes, added)
    return replace(session, notes=notes)
