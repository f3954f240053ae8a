"""A workflow: agents with dependencies, verifiers, notes, escalations and proofs of concept (the WF document).

The plan is what a person or a designer agent wrote. What agents write while it runs, sessions with notes and
verification results, are values of their own. How each is written as a file, `formats/workflow/` says. Times are
seconds since the epoch, as integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.model.task import WorkspaceKind


class AgentKind(StrEnum):
    """What an agent of a workflow is for."""

    DOER = "doer"  # does the work
    POC = "poc"  # tries an assumption before others rely on it
    ARCHITECT = "architect"  # decides on technology and structure when asked
    VERIFIER = "verifier"  # judges what others did


class AgentStatus(StrEnum):
    """The status of an agent in `shared_status.json` (WF, Agent Status Values)."""

    PENDING = "pending"  # waits until all that it needs is verified
    WORKING = "working"  # works, or waits for a place to work
    REVIEW = "completion_drive_review"  # reviews its assumptions before it claims to be done
    READY = "ready_for_verification"  # claims to be done; its notes are resolved and its outputs exist
    VERIFIED = "verified"  # its verifier passed it
    BLOCKED = "blocked"  # waits for an answer
    FAILED = "failed"  # given up after crashes, or by the user
    COMPLETE = "session_complete"  # its workflow has ended and its session is archived


class WorkflowStatus(StrEnum):
    """The status of a whole workflow in `shared_status.json`."""

    PENDING = "pending"  # not started
    IN_PROGRESS = "in_progress"  # something can go on
    BLOCKED = "blocked"  # only answers help
    COMPLETE = "session_complete"  # every agent is verified and archived
    FAILED = "failed"  # an agent was given up, and the plan was not adapted


class VerificationStatus(StrEnum):
    """The status of a verifier in `shared_status.json`."""

    PENDING = "pending"  # nothing is ready for it
    WORKING = "working"  # a run of it lives
    BLOCKED = "blocked"  # it waits for an answer
    FAILED = "failed"  # given up
    VERIFIED = "verified"  # all its subjects are verified


class NoteStatus(StrEnum):
    """The status of a note (WF, Note Lifecycle)."""

    OPEN = "open"
    RESOLVED = "resolved"
    ESCALATED = "escalated"


class NoteKind(StrEnum):
    """What a note is about, where its author must not decide it alone (WF, Escalation Rules)."""

    NONE = ""
    REQUIREMENTS = "requirements"
    TECHNOLOGY = "technology"
    ARCHITECTURE = "architecture"
    SECURITY = "security"
    CONFLICT = "conflict"
    WORKFLOW = "workflow"


class Resolver(StrEnum):
    """Who resolved a note."""

    SELF = "agent_self"
    EXECUTOR = "workflow_executor"
    USER = "user"


class PocEvidence(StrEnum):
    """How the evidence of a proof of concept compares with its criteria."""

    PASS = "pass"  # noqa: S105 (it is no password)
    PARTIAL = "partial"
    FAIL = "fail"


class PocDecision(StrEnum):
    """What follows from a proof of concept."""

    PROCEED = "proceed"
    ADAPT = "adapt"
    ASK = "ask"


class Route(StrEnum):
    """How a resolver wants an escalated note answered."""

    USER = "user"
    ARCHITECT = "architect"
    ANSWER = "answer"
    EDIT = "edit"


# The plan ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bounds:
    """How often what may be repeated. None in an agent's own bounds means: as the workflow says.

    `run_time` is the longest time of one run in seconds; the document wants none.
    """

    verifications: int = 5
    crashes: int = 3
    loops: int = 3
    asks: int = 1
    conflicts: int = 3
    input_reruns: int = 3
    depth: int = 2
    run_time: int | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """What an agent reads of another one's output: one file of its `task_output/`, or all, and its commit."""

    source: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceWanted:
    """What an agent must show: a text, and the file in its `task_output/` that shows it."""

    id: str
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class Poc:
    """What a proof of concept tries: the assumption, when it holds, when it fails, and who relies on it."""

    assumption: str
    passes: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    protects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkflowAgent:
    """One agent of a workflow. `persona` is the definition that it is run with, `needs` must be verified first.

    `instructions` is a path in `orchestration/`; `outputs` and the paths of evidence are in its `task_output/`. `files`
    are what it changes in the project. `own_bounds` replaces single bounds of the workflow.
    """

    id: str
    task_id: str
    kind: AgentKind
    title: str
    persona: str
    instructions: str
    runtime: str = ""
    needs: tuple[str, ...] = ()
    group: str = ""
    verifier: str = ""
    inputs: tuple[Input, ...] = ()
    outputs: tuple[str, ...] = ()
    evidence: tuple[EvidenceWanted, ...] = ()
    files: tuple[str, ...] = ()
    workspace: WorkspaceKind = WorkspaceKind.WORKTREE
    scratch: bool = False
    own_bounds: tuple[tuple[str, int], ...] = ()
    poc: Poc | None = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A verifier that judges several agents in one run, when all are ready, by joint `criteria`."""

    id: str
    verifier: str
    subjects: tuple[str, ...]
    criteria: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Escalation:
    """Who answers escalated notes: agents of the plan, or (empty) the user. `user_points` are shown to the user."""

    resolver: str = ""
    architect: str = ""
    loop: str = ""
    user_points: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CriterionPlan:
    """Which evidence meets a success criterion of task.md: `agent.evidence`."""

    text: str
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanApproval:
    """Who approved of which plan: `hash` is of what the approval covers."""

    hash: str
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class WorkflowPlan:
    """The block in `workflow_coordination_plan.md`. `groups` are how many of a group run at once, by its name."""

    workflow: str
    summary: str
    agents: tuple[WorkflowAgent, ...]
    max_parallel: int = 4
    bounds: Bounds = Bounds()
    groups: tuple[tuple[str, int], ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    escalation: Escalation = Escalation()
    criteria: tuple[CriterionPlan, ...] = ()
    approval: PlanApproval | None = None


# What agents write ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Note:
    """An assumption or uncertainty that an agent noted while it worked (WF, Completion Drive File Format)."""

    id: str
    timestamp: int
    description: str
    context: str
    status: NoteStatus
    resolution: str = ""
    resolved_by: Resolver | None = None
    resolution_timestamp: int | None = None
    escalation_reason: str = ""
    kind: NoteKind = NoteKind.NONE


@dataclass(frozen=True, slots=True)
class Session:
    """`session_current.json` of an agent: which task it works on, since when, and its notes."""

    task_id: str
    session_start: int
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class VerificationResults:
    """`verification_results.json`: what a verifier missed. It is there only while something is missing."""

    task_id: str
    timestamp: int
    missing_evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PocJudgement:
    """`poc_decision.json` of a proof of concept. `edits` are those that an adaptation needs."""

    task_id: str
    timestamp: int
    evidence: PocEvidence
    decision: PocDecision
    rationale: str
    edits: tuple[PlanEdit, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolutionItem:
    """How a resolver answers one escalated note. `checked` names every other agent that it looked at for conflicts."""

    agent: str
    note: str
    route: Route
    text: str = ""
    checked: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    edits: tuple[PlanEdit, ...] = ()


@dataclass(frozen=True, slots=True)
class EscalationResolution:
    """`resolution_N.json`: the answers to all escalated notes of one agent."""

    task_id: str
    timestamp: int
    items: tuple[ResolutionItem, ...]


# Edits of a running plan ------------------------------------------------------------------------------


class EditKind(StrEnum):
    """How a running plan may be changed."""

    ADD_AGENT = "add_agent"
    REMOVE_AGENT = "remove_agent"
    SET_NEEDS = "set_needs"
    SET_INPUTS = "set_inputs"
    REINSTRUCT = "reinstruct"
    SET_EVIDENCE = "set_evidence"
    SET_OUTPUTS = "set_outputs"
    SET_VERIFIER = "set_verifier"
    SET_BOUNDS = "set_bounds"


@dataclass(frozen=True, slots=True)
class PlanEdit:
    """One edit. Of the fields, those count that its kind names; `added` is the whole agent that ADD_AGENT adds."""

    kind: EditKind
    agent: str
    added: WorkflowAgent | None = None
    needs: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    instructions: str = ""
    evidence: tuple[EvidenceWanted, ...] = ()
    outputs: tuple[str, ...] = ()
    verifier: str = ""
    bounds: tuple[tuple[str, int], ...] = ()
