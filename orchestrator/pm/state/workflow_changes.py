"""Changes of what is known of the agents of a workflow, of its plan, and of the questions of its agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from orchestrator.model.escalation import EscalationCase
from orchestrator.model.turn_end import AgentRecord, HandIn, VerdictGiven
from orchestrator.model.workflow import WorkflowPlan
from orchestrator.model.workflow_records import AdaptationRecord


@dataclass(frozen=True, slots=True)
class AgentRecorded:
    """What is known of an agent beyond its steps has changed: its notes, or what it handed in."""

    agent: str
    record: AgentRecord
    kind: Literal["agent_recorded"] = "agent_recorded"


@dataclass(frozen=True, slots=True)
class PlanAdapted:
    """The plan of the running workflow is another one from now on. `record` says who changed what, and why."""

    plan: WorkflowPlan
    record: AdaptationRecord
    kind: Literal["plan_adapted"] = "plan_adapted"


@dataclass(frozen=True, slots=True)
class EscalationMoved:
    """The escalated notes of an agent are at another point of their way to an answer."""

    case: EscalationCase
    kind: Literal["escalation_moved"] = "escalation_moved"


@dataclass(frozen=True, slots=True)
class HandedIn:
    """An agent handed in its outputs. Each version is kept."""

    made: HandIn
    kind: Literal["handed_in"] = "handed_in"


@dataclass(frozen=True, slots=True)
class Judged:
    """A verifier gave its verdict on an agent. Each one is kept."""

    verdict: VerdictGiven
    kind: Literal["judged"] = "judged"


WorkflowChange: TypeAlias = AgentRecorded | PlanAdapted | EscalationMoved | HandedIn | Judged
