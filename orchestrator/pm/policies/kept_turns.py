"""What the turns of a workflow's agents left for good: each version that was handed in, each verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.model.turn_end import AgentRecord, HandIn, VerdictGiven
from orchestrator.pm.state.workflow_changes import HandedIn, Judged

if TYPE_CHECKING:
    from orchestrator.model.turn_end import SubjectEnd, TurnEnd
    from orchestrator.pm.state.draft import Draft


def keep_hand_in(draft: Draft, agent: str, run: str, turn: TurnEnd) -> None:
    """Keep a version of an agent's outputs."""
    number = len(draft.state.handed_in.get(agent, ())) + 1
    task_id = _task_id(draft, agent)
    draft.change(HandedIn(HandIn(agent, number, task_id, draft.at, run, turn.version, turn.outputs)))


def keep_verdict(draft: Draft, by: str, run: str, subject: SubjectEnd) -> None:
    """Keep what a verifier said of an agent."""
    verdict = VerdictGiven(
        agent=subject.agent,
        number=len(draft.state.verdicts.get(subject.agent, ())) + 1,
        task_id=_task_id(draft, subject.agent),
        at=draft.at,
        by=by,
        run=run,
        version=subject.version,
        missing=subject.missing,
        judgement=subject.judgement,
    )
    draft.change(Judged(verdict))


def _task_id(draft: Draft, agent: str) -> str:
    """Return the task id of an agent; of one on call that of the question which it answers now."""
    plan, record = draft.state.brief.workflow, draft.state.records.get(agent, AgentRecord())
    planned = (each.task_id for each in plan.agents if each.id == agent) if plan else iter(())
    return record.task_id or next(planned, "")
