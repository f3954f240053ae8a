"""What a decision means for a workflow, event by event: the lines of `records/events.jsonl` (contract, Files).

Each line has `seq` (the journal line that it follows from; the events of one decision share it), `at`, `event` and, as
far as they apply, `agent`, `from`, `to`, `by`, `run`, `cause`, `plan`, `inputs`, `output`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from orchestrator.formats.workflow.approval import plan_hash
from orchestrator.model.escalation import CaseState
from orchestrator.model.facts import ReportLanded
from orchestrator.model.run import Purpose
from orchestrator.model.turn_end import AgentRecord
from orchestrator.model.workflow import AgentKind
from orchestrator.model.workflow_records import AgentEvent, AgentStatus, Writer
from orchestrator.pm.plan.workflow_status import agent_status
from orchestrator.pm.state.agent_transitions import MOVES
from orchestrator.pm.state.changes import QuestionAnswered, QuestionAsked, TaskMoved
from orchestrator.pm.state.run_changes import RunOpened
from orchestrator.pm.state.step_changes import StepTallied
from orchestrator.pm.state.workflow_changes import EscalationMoved, PlanAdapted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.changes import Change
    from orchestrator.pm.state.draft import Decision
    from orchestrator.pm.state.task_state import PMState

_PREFERRED: Final = {
    PlanAdapted: (AgentEvent.NEED_ADDED, AgentEvent.REINSTRUCTED, AgentEvent.MODIFY),
    EscalationMoved: (
        AgentEvent.ESCALATED,
        AgentEvent.ANSWERED,
        AgentEvent.QUESTION,
        AgentEvent.ANSWER_TAKEN,
    ),
    QuestionAsked: (AgentEvent.BOUND_ASKS, AgentEvent.CRASHES_EXHAUSTED),
    QuestionAnswered: (AgentEvent.ANSWERED, AgentEvent.GUIDE, AgentEvent.RETRY, AgentEvent.ABANDON),
}
"""Where several rows of the table lead from one status to the other: which is meant, by what else was decided."""


def events_of(before: PMState, fact: Fact, decision: Decision, seq: int) -> Iterator[dict[str, Any]]:
    """Yield the events of one decision, in the order in which they matter; nothing for a task that is no workflow."""
    after = decision.state
    if after.brief.workflow is None:
        return
    head = {"seq": seq, "at": int(fact.at)}
    if before.brief.workflow is None:
        yield head | {"event": "began", "plan": plan_hash(after.brief.workflow)}
    for event in (
        *_turn(after, fact),
        *_decided(before, after, decision.changes),
        *_transitions(before, after, decision),
    ):
        yield head | {key: value for key, value in event.items() if value not in ("", None, (), [], {})}


def statuses(state: PMState) -> dict[str, AgentStatus]:
    """Return the status of each agent of a workflow that is no verifier."""
    plan = state.brief.workflow
    agents = plan.agents if plan else ()
    return {each.id: agent_status(state, each.id) for each in agents if each.kind is not AgentKind.VERIFIER}


def _turn(state: PMState, fact: Fact) -> Iterator[dict[str, Any]]:
    """Yield the end of a turn, with a verdict for each agent that it judges, and what is refused of it."""
    report = fact.report if isinstance(fact, ReportLanded) else None
    turn = report.turn if report else None
    if report is None or turn is None:
        return
    run = state.runs.get(report.run or "")
    agent = run.agent if run else ""
    found = {"agent": agent, "run": report.run, "cause": report.completed[:400] if not turn.subjects else ""}
    yield {
        "event": "turn_end",
        **found,
        "to": turn.claim,
        "result": report.status.value,
        "output": turn.version,
    }
    for subject in turn.subjects:
        passed = not subject.missing and not subject.fault and report.verdict is not None
        result = "fail" if subject.missing else "pass" if passed else "none"
        decided = subject.judgement.decision.value if subject.judgement else ""
        yield {"event": "verdict", "agent": subject.agent, "by": agent, "run": report.run, "result": result,
               "decision": decided, "missing": list(subject.missing), "output": subject.version}  # fmt: skip
    for refused in turn.refused:
        yield {
            "event": "refusal",
            "agent": agent,
            "by": Writer.OWN_RUN.value,
            "run": report.run,
            "cause": refused,
        }


def _decided(before: PMState, state: PMState, changes: tuple[Change, ...]) -> Iterator[dict[str, Any]]:
    plan = state.brief.workflow
    for change in changes:
        match change:
            case StepTallied(step=tallied, tally=tally) if tally.crashes > _crashes(before, tallied):
                last = state.runs.last_at_work_on(tallied)
                yield {"event": "crash", "agent": state.steps[tallied].agent, "run": last.id if last else "",
                       "step": tallied, "number": tally.crashes}  # fmt: skip
            case RunOpened(run=run) if run.purpose is Purpose.WORK:
                needs = next((each.needs for each in plan.agents if each.id == run.agent), ()) if plan else ()
                inputs = {need: state.records.get(need, AgentRecord()).version for need in needs}
                yield {"event": "launch", "agent": run.agent, "run": run.id, "step": run.step, "inputs": inputs,
                       "plan": plan_hash(plan) if plan else ""}  # fmt: skip
            case EscalationMoved(case=case):
                word = {
                    CaseState.WAITING: "escalation",
                    CaseState.ASKED: "asked",
                    CaseState.SETTLED: "answer",
                }
                notes = [
                    {"note_id": note.id, "kind": note.kind.value, "question": note.wording[:400],
                     "via": note.via.value, "by": note.by.value,
                     "checked": list(note.checked), "overrides": list(note.overrides)}
                    for note in case.notes
                ]  # fmt: skip
                yield {"event": word[case.state], "agent": case.agent, "number": case.number,
                       "task_id": case.task_id, "to": case.to.value if case.state is CaseState.ASKED else "",
                       "loop": case.loop or None, "depth": case.depth or None, "notes": notes}  # fmt: skip
            case PlanAdapted(record=record):
                yield {"event": "adaptation", "number": record.number, "by": record.by, "cause": record.cause,
                       "from": record.base, "plan": record.result, "effects": dict(record.effects)}  # fmt: skip
            case QuestionAsked(question=question):
                step = state.steps.get(question.step)
                yield {"event": "question", "agent": step.agent if step else "", "question": question.id,
                       "cause": question.text[:400]}  # fmt: skip
            case QuestionAnswered(question=asked, by=by):
                yield {"event": "user_answer", "question": asked, "by": by or "the user"}
            case TaskMoved(to=to, why=why):
                yield {"event": "workflow", "to": to.value, "cause": why}
            case _:
                pass


def _crashes(state: PMState, step: str) -> int:
    return state.steps[step].tally.crashes if step in state.steps else 0


def _transitions(before: PMState, after: PMState, decision: Decision) -> Iterator[dict[str, Any]]:
    was, now = statuses(before), statuses(after)
    kinds = {type(change) for change in decision.changes}
    preferred = [event for kind, events in _PREFERRED.items() if kind in kinds for event in events]
    for agent, status in now.items():
        old = was.get(agent, AgentStatus.PENDING)
        if status is old:
            continue
        rows = [move for move in MOVES if old in move.sources and move.target is status]
        rows.sort(key=lambda move: preferred.index(move.event) if move.event in preferred else len(preferred))
        row = rows[0] if rows else None
        yield {"event": "transition", "agent": agent, "from": old.value, "to": status.value,
               "by": row.writers[0].value if row else Writer.DAEMON.value,
               "cause": row.event.value if row else "started_again",
               "output": after.records.get(agent, AgentRecord()).version}  # fmt: skip
