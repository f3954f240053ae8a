"""What roles hand on to each other: handoffs, the status of an agent, chains and the index (C1 to C6).

The values are those of the files, so that a file that is written again says the same. What a file does not have is
None: examples and agents leave fields out, and a handoff that lacks something is judged, not repaired.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

HANDOFF_ID: Final = r"handoff_(?P<ms>[0-9]{13})_[a-z0-9]{8}"
"""`handoff_<milliseconds since the epoch>_<8 letters or digits>`."""

MEMORY_ID: Final = r"mem_[0-9]{10}_[a-z0-9_]{1,64}"
CHAIN: Final = "chain_"
"""How the id of a chain begins; the id of its task follows."""

_MOMENT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})"
)


class PipelineRole(StrEnum):
    """Who hands on."""

    PLANNER = "PLANNER"  # plans the work, and plans it again
    IMPLEMENTER = "IMPLEMENTER"  # does it
    AUDITOR = "AUDITOR"  # judges it
    CLEANER = "CLEANER"  # removes what it left behind
    ORCHESTRATOR = "ORCHESTRATOR"  # closes the chain


class Transition(StrEnum):
    """What a handoff means: the `type` of a handoff."""

    IMPLEMENT = "ready_for_implementation"  # the plan is made
    AUDIT = "ready_for_audit"  # the work is done and its tests pass
    CLEAN_UP = "ready_for_cleanup"  # the audit passed
    COMPLETE = "complete"  # nothing is left to do
    REPLAN = "requires_replanning"  # the plan does not hold


ROUTES: Final = {
    Transition.IMPLEMENT: (frozenset({PipelineRole.PLANNER}), PipelineRole.IMPLEMENTER),
    Transition.AUDIT: (frozenset({PipelineRole.IMPLEMENTER}), PipelineRole.AUDITOR),
    Transition.CLEAN_UP: (frozenset({PipelineRole.AUDITOR}), PipelineRole.CLEANER),
    Transition.COMPLETE: (frozenset({PipelineRole.CLEANER}), PipelineRole.ORCHESTRATOR),
    Transition.REPLAN: (
        frozenset({PipelineRole.IMPLEMENTER, PipelineRole.AUDITOR, PipelineRole.CLEANER}),
        PipelineRole.PLANNER,
    ),
}
"""From which roles to which one each transition leads."""


class HandoffStatus(StrEnum):
    """Where a handoff stands."""

    PENDING = "pending"  # waits for its receiver
    ACCEPTED = "accepted"  # its receiver works on it
    REJECTED = "rejected"  # it is incomplete, or the work did not pass: its issues say why
    COMPLETED = "completed"  # its receiver is done with it


LIFECYCLE: Final = {
    HandoffStatus.PENDING: frozenset({HandoffStatus.ACCEPTED, HandoffStatus.REJECTED}),
    HandoffStatus.ACCEPTED: frozenset({HandoffStatus.COMPLETED, HandoffStatus.REJECTED}),
    HandoffStatus.REJECTED: frozenset[HandoffStatus](),
    HandoffStatus.COMPLETED: frozenset[HandoffStatus](),
}
"""Which status may follow which. A rejected handoff stays so: its source hands on anew, under another id."""


class IssueSeverity(StrEnum):
    """How grave an issue is."""

    CRITICAL = "critical"  # nothing may go on
    HIGH = "high"  # the work may not pass with it
    MEDIUM = "medium"  # should be dealt with
    LOW = "low"  # may be dealt with


GRAVE: Final = frozenset({IssueSeverity.CRITICAL, IssueSeverity.HIGH})
"""The issues with which an audit does not pass."""


class DeliverableKind(StrEnum):
    """What is handed on: the `type` of a deliverable."""

    PLAN = "plan"  # a plan
    IMPLEMENTATION_PLAN = "implementation_plan"  # another word for a plan
    IMPLEMENTATION = "implementation"  # code, tests, documents
    AUDIT_REPORT = "audit_report"  # what an audit found
    CLEANUP_REPORT = "cleanup_report"  # what was removed


class AgentActivity(StrEnum):
    """Whether an agent works."""

    ACTIVE = "active"  # it works
    IDLE = "idle"  # it does not


class WaitingFor(StrEnum):
    """What an agent waits for."""

    APPROVAL = "approval"  # somebody's approval
    DEPENDENCY = "dependency"  # something outside
    RESOURCE = "resource"  # something that others use
    CLARIFICATION = "clarification"  # the answer to a question


class ChainOutcome(StrEnum):
    """How a chain of handoffs ended."""

    SUCCESS = "success"  # it came to `complete`
    FAILURE = "failure"  # its task ended without
    OPEN = "in_progress"  # it has not ended


@dataclass(frozen=True, slots=True)
class HandoffHead:
    """The object `handoff`: who hands on to whom, when, and how that stands."""

    source: PipelineRole | None = None
    target: PipelineRole | None = None
    timestamp: str | None = None
    transition: Transition | None = None
    status: HandoffStatus | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class HandoffContext:
    """The object `context`: to which work the handoff belongs."""

    task: str | None = None
    phase: str | None = None
    scope: str | None = None
    dependencies: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Deliverable:
    """The object `deliverable`: what was made."""

    kind: DeliverableKind | None = None
    location: str | None = None
    summary: str | None = None
    artifacts: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class HandoffSteps:
    """The object `nextSteps`: what the receiver is to do."""

    instructions: tuple[str, ...] | None = None
    constraints: tuple[str, ...] | None = None
    criteria: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """One entry of `issues`."""

    severity: IssueSeverity
    description: str
    recommendation: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryReferences:
    """The object `memory`: the ids of memories that were written, and of those that were consulted."""

    created: tuple[str, ...] | None = None
    referenced: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class RoleHandoff:
    """A handoff from role to role. `others` are fields that the format does not name: path and JSON text of each."""

    head: HandoffHead
    context: HandoffContext | None = None
    deliverable: Deliverable | None = None
    steps: HandoffSteps | None = None
    issues: tuple[Issue, ...] | None = None
    memory: MemoryReferences | None = None
    others: tuple[tuple[tuple[str, ...], str], ...] = ()


@dataclass(frozen=True, slots=True)
class HandoffRecord:
    """A handoff as the PM knows it. `step` handed it on, in the report of this file name."""

    step: str
    report: str
    handoff: RoleHandoff


@dataclass(frozen=True, slots=True)
class RoleStatus:
    """The status file of an agent. `progress` is a decimal fraction as text, as the format has it."""

    agent: str
    role: PipelineRole | None
    activity: AgentActivity
    updated: str
    current_task: str | None = None
    progress: str | None = None
    findings: tuple[str, ...] = ()
    handoff: str | None = None
    next_role: PipelineRole | None = None
    waiting_for: WaitingFor | None = None
    blocked_by: tuple[str, ...] = ()
    others: tuple[tuple[tuple[str, ...], str], ...] = ()


@dataclass(frozen=True, slots=True)
class RoleStatusRecord:
    """What an agent says of its own work in its status file, while it has the order of this file name."""

    order: str
    status: RoleStatus


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One handoff of a chain. The duration is the time that its source took: since the handoff before it."""

    id: str
    source: PipelineRole
    target: PipelineRole
    minutes: int


@dataclass(frozen=True, slots=True)
class ChainMetrics:
    """The figures of a chain. `coverage` is None where nothing measured it."""

    files: int = 0
    coverage: float | None = None
    issues_found: int = 0
    issues_resolved: int = 0


@dataclass(frozen=True, slots=True)
class HandoffChain:
    """The handoffs of one task, in order.

    `given_up` is when its task ended without coming to `complete`, if it did: another archive may have what came later.
    """

    id: str
    task: str
    created: str
    completed: str | None
    minutes: int
    links: tuple[ChainLink, ...]
    outcome: ChainOutcome
    metrics: ChainMetrics
    others: tuple[tuple[tuple[str, ...], str], ...] = ()
    given_up: str | None = None


@dataclass(frozen=True, slots=True)
class ArchiveIndex:
    """How many handoffs and chains an archive has. `by_date` and `by_type` count handoffs, in the order of the file."""

    updated: str
    handoffs: int
    chains: int
    by_date: tuple[tuple[str, int], ...]
    by_type: tuple[tuple[Transition, int], ...]


def moment(text: str) -> float | None:
    """Return an ISO 8601 moment with its zone as seconds since the epoch; None if the text is none."""
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None


def iso(at: float) -> str:
    """Return a moment (seconds since the epoch) as the files have it: to the second, in UTC."""
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
