"""The files of coordination by roles, field by field: the JSON Schemas and the page about them are made of this.

Fields may be missing in a handoff: which of them its transition needs is said by `lacking`, not by the schema.
"""

from __future__ import annotations

from typing import Annotated, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from orchestrator.model.coordination import (
    HANDOFF_ID,
    MEMORY_ID,
    AgentActivity,
    ChainOutcome,
    DeliverableKind,
    HandoffStatus,
    IssueSeverity,
    PipelineRole,
    Transition,
    WaitingFor,
)
from orchestrator.model.memory import MemoryKind
from scripts.reference.documents.parts import Moment, described

HandoffId = Annotated[str, Field(pattern=f"^{HANDOFF_ID.replace('?P<ms>', '')}$")]
MemoryId = Annotated[str, Field(pattern=f"^{MEMORY_ID}$")]
Fraction = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


@described
class Head(TypedDict, total=False):
    """Who hands on to whom."""

    from_: Annotated[PipelineRole, Field(alias="from")]
    """The role that hands on."""
    to: PipelineRole
    """Who receives."""
    timestamp: Moment
    """When it was handed on."""
    type: Transition
    """What it means; it leads from certain roles to one."""
    status: HandoffStatus
    """Where it stands."""
    handoffId: HandoffId
    """Its id: milliseconds since the epoch, and eight letters or digits."""


@described
class Context(TypedDict, total=False):
    """To which work it belongs."""

    taskId: str
    """The task."""
    phase: str
    """The phase of the project."""
    scope: str
    """What the work covers."""
    dependencies: list[str]
    """Files and resources that it is about."""


@described
class Delivered(TypedDict, total=False):
    """What was made."""

    type: DeliverableKind
    """What kind of thing it is."""
    location: str
    """Its main file."""
    summary: str
    """What it is, in a sentence."""
    artifacts: list[str]
    """All files that were created or changed."""


@described
class NextSteps(TypedDict, total=False):
    """What the receiver is to do."""

    instructions: list[str]
    """What to do, in order."""
    constraints: list[str]
    """What must be and what must not be."""
    acceptanceCriteria: list[str]
    """How anybody can see that it is done."""


@described
class FoundIssue(TypedDict):
    """One thing that is not as it should be."""

    severity: IssueSeverity
    """How grave it is."""
    description: str
    """What it is."""
    recommendation: NotRequired[str]
    """What to do about it."""


@described
class Memories(TypedDict, total=False):
    """Ids of memories."""

    created: list[MemoryId]
    """Those that were written during the work."""
    referenced: list[MemoryId]
    """Those that were consulted."""


@described
class Handoff(TypedDict):
    """A handoff from role to role: `handoffs/DATE/HANDOFF_ID.json`."""

    handoff: Head
    """Who hands on to whom, when, and how that stands."""
    context: NotRequired[Context]
    """To which work it belongs."""
    deliverable: NotRequired[Delivered]
    """What was made."""
    nextSteps: NotRequired[NextSteps]
    """What the receiver is to do."""
    issues: NotRequired[list[FoundIssue]]
    """What is not as it should be."""
    memory: NotRequired[Memories]
    """Memories that belong to it."""


@described
class AgentStatus(TypedDict):
    """The status of an agent: `agent-status/AGENT.json`, as `scripts/status-update.sh` writes it."""

    agentId: str
    """The agent, as the file is named."""
    role: PipelineRole | None
    """Its role."""
    status: AgentActivity
    """Whether it works."""
    lastUpdate: Moment
    """When this file was last changed."""
    currentTask: str | None
    """What it works on."""
    progress: str | None
    """How far it is: a fraction from 0 to 1, as text."""
    findings: list[str]
    """What it found so far."""
    handoffId: HandoffId | None
    """The handoff that it works on."""
    nextRole: PipelineRole | None
    """To whom it will hand on."""
    waitingFor: WaitingFor | None
    """What it waits for."""
    blockedBy: list[str]
    """What blocks it."""


@described
class Link(TypedDict):
    """One handoff of a chain."""

    handoffId: HandoffId
    """The handoff."""
    from_: Annotated[PipelineRole, Field(alias="from")]
    """Who handed on."""
    to: PipelineRole
    """Who received."""
    duration_minutes: Count
    """How long its source took: since the handoff before it, or since the task began."""


@described
class Metrics(TypedDict):
    """The figures of a chain."""

    total_files_modified: Count
    """Files that implementations named."""
    test_coverage: Fraction | None
    """The coverage of the tests, if something measured it."""
    issues_found: Count
    """Issues of all its handoffs."""
    issues_resolved: Count
    """Those that its last handoff does not have any more."""


@described
class Chain(TypedDict):
    """The handoffs of one task: `handoffs/DATE/CHAIN_ID.json`, by the day on which it was created."""

    chainId: str
    """`chain_` and the task."""
    taskId: str
    """The task."""
    created: Moment
    """When the task began; where that is not known, the moment of the first handoff."""
    completed: Moment | None
    """When it ended."""
    duration_minutes: Count
    """How long it took, so far if it has not ended."""
    handoffs: list[Link]
    """Its handoffs, in order."""
    outcome: ChainOutcome
    """How it ended."""
    metrics: Metrics
    """Its figures."""


@described
class Index(TypedDict):
    """How many records an archive has: `handoffs/index.json`."""

    last_updated: Moment
    """The moment of its newest record."""
    total_handoffs: Count
    """All handoffs."""
    total_chains: Count
    """All chains."""
    by_date: dict[str, Count]
    """Handoffs by day, in UTC."""
    by_type: dict[Transition, Count]
    """Handoffs by what they mean."""


@described
class Memory(TypedDict):
    """What was learned: `memories/MEMORY_ID.json`, as `scripts/memory-write.sh` writes it."""

    id: MemoryId
    """Its id, as the file is named."""
    content: str
    """What was learned."""
    type: MemoryKind
    """Whether it is what happened (`episodic`), how to do something (`procedural`), or what holds (`semantic`)."""
    importance: Fraction
    """How much it matters."""
    tags: list[str]
    """Words by which it is found."""
    created: Moment
    """When it was written."""
    misled: NotRequired[Moment]
    """When somebody marked it as misleading, by `task memory mark`."""


FILES: Final[dict[str, tuple[str, type]]] = {
    "coordination-handoff": ("handoffs/DATE/HANDOFF_ID.json", Handoff),
    "coordination-chain": ("handoffs/DATE/CHAIN_ID.json", Chain),
    "coordination-index": ("handoffs/index.json", Index),
    "agent-status": ("agent-status/AGENT.json", AgentStatus),
    "memory": ("memories/MEMORY_ID.json", Memory),
}
"""Each file by the name of its schema: where it lies below the folder of data, and its shape."""
