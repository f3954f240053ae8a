"""What is written while a workflow runs: statuses, sessions with notes, results, decisions, archives (the WF document).

Times are seconds since the epoch, as integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.model.workflow import PlanEdit


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


class AgentEvent(StrEnum):
    """What may change the status of an agent (contract, Values and transitions)."""

    LAUNCH = "launch"  # all its needs are verified, and it is started
    THINKS_DONE = "thinks_done"  # it reviews its notes
    ESCALATED = "escalated"  # it has escalated notes
    CLAIMS_READY = "claims_ready"  # notes are resolved, outputs and evidence exist
    PASS = "pass"  # noqa: S105 (it is no password)
    """its verifier passed it, and its work was merged"""
    FAIL = "fail"  # its verifier misses something
    CONFLICT = "conflict"  # its work could not be merged
    INPUT_CHANGED = "input_changed"  # a declared input has another verified version
    REINSTRUCTED = "reinstructed"  # its instructions, evidence or outputs were edited
    NEED_ADDED = "need_added"  # an edit gave it a need that is not verified
    ANSWERED = "answered"  # none of its notes is escalated any more
    BOUND_ASKS = "bound_asks"  # something was repeated as often as its bound allows
    CRASHES_EXHAUSTED = "crashes_exhausted"  # it crashed once more than its bound allows
    QUESTION = "question"  # it is on call, and gets a question
    ANSWER_TAKEN = "answer_taken"  # a resolver's answers hold; nobody verifies them
    WORKFLOW_ENDED = "workflow_ended"  # its session is archived
    RETRY = "retry"  # the user wants it tried again
    GUIDE = "guide"  # the user gave guidance
    MODIFY = "modify"  # the user changed its instructions
    ABANDON = "abandon"  # the user gave it up


class Writer(StrEnum):
    """Who wrote a file of a workflow (contract, Writers)."""

    OWN_RUN = "own_run"  # a run of the agent itself
    VERIFIER_RUN = "verifier_run"  # a run of the verifier that is assigned to the agent
    UNKNOWN = "unknown"  # nobody that the daemon knows
    DAEMON = "daemon"  # the daemon
    USER = "user"  # by a request


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

    OPEN = "open"  # an assumption that nobody has looked at yet
    RESOLVED = "resolved"  # settled, with a resolution
    ESCALATED = "escalated"  # its author may not decide it, or cannot


class NoteKind(StrEnum):
    """What a note is about, where its author must not decide it alone (WF, Escalation Rules)."""

    NONE = ""  # its author may decide it
    REQUIREMENTS = "requirements"  # what the user wants
    TECHNOLOGY = "technology"  # languages, frameworks, libraries, databases
    ARCHITECTURE = "architecture"  # structure, interfaces, patterns
    SECURITY = "security"  # authentication, encryption, access
    CONFLICT = "conflict"  # guidance that contradicts itself
    WORKFLOW = "workflow"  # a gap in the plan


class Resolver(StrEnum):
    """Who resolved a note."""

    SELF = "agent_self"  # the agent that wrote it
    EXECUTOR = "workflow_executor"  # the daemon, with the answer of an architect or a resolver
    USER = "user"  # the user


class PocEvidence(StrEnum):
    """How the evidence of a proof of concept compares with its criteria."""

    PASS = "pass"  # noqa: S105 (it is no password)
    """every criterion holds"""
    PARTIAL = "partial"  # it holds in part, or with a change
    FAIL = "fail"  # the assumption is wrong


class PocDecision(StrEnum):
    """What follows from a proof of concept."""

    PROCEED = "proceed"  # the workflow goes on as planned
    ADAPT = "adapt"  # the plan is edited first
    ASK = "ask"  # the user decides


class Route(StrEnum):
    """How a resolver wants an escalated note answered."""

    USER = "user"  # the user is asked
    ARCHITECT = "architect"  # the architect gets a task
    ANSWER = "answer"  # the resolver answers itself
    EDIT = "edit"  # the plan is edited


class Gate(StrEnum):
    """`overall_completion_drive_gate` of `shared_status.json`: whether notes keep the workflow from its end."""

    BLOCKED = "blocked"  # some note is open or escalated
    CLEAR = "clear"


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


class Effect(StrEnum):
    """What an edit of a running plan does to one agent."""

    ADDED = "added"  # it waits for its needs
    REMOVED = "removed"  # it had not started, or had ended
    ENDED = "ended"  # its run is ended, its work is kept
    GOES_ON = "goes_on"  # nothing that it does is touched
    ENDED_PENDING = "ended_pending"  # its run is ended; it waits for a need that is not verified
    CLAIM_NOT_TAKEN = "claim_not_taken"  # its run is ended, and it goes on in the same tree with what is new
    WORKS_AGAIN = "works_again"  # it was verified or had failed, and goes on with what is new
    NEXT_VERDICT = "next_verdict"  # from the next verdict on
    AT_ONCE = "at_once"  # counts from now on


@dataclass(frozen=True, slots=True)
class AdaptationRecord:
    """One adaptation of a running plan. `base` and `result` are the hashes of the plan before and after it.

    `by` is who made it, `cause` why; `voids` is why the user had to approve of it first, if an agent proposed it.
    """

    number: int
    at: float
    by: str
    cause: str
    base: str
    result: str
    edits: tuple[PlanEdit, ...]
    effects: tuple[tuple[str, Effect], ...]
    voids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """An agent in `shared_status.json`. `last_update` is None before its first change."""

    name: str
    status: AgentStatus
    notes_count: int = 0
    unresolved_notes: int = 0
    dependencies: tuple[str, ...] = ()
    last_update: int | None = None


@dataclass(frozen=True, slots=True)
class VerifierEntry:
    """A verifier in `shared_status.json`, with the agents that it verifies."""

    name: str
    status: VerificationStatus
    assigned_agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedStatus:
    """`shared_status.json`. `task_id` is the workflow's name; verifiers stand only in `verification`."""

    task_id: str
    status: WorkflowStatus
    session_start: int | None
    agents: tuple[AgentEntry, ...]
    verification: tuple[VerifierEntry, ...] = ()
    gate: Gate = Gate.CLEAR


class ArchivalOperation(StrEnum):
    """Why a session was moved away."""

    STALE = "stale"  # it belongs to an earlier workflow or task
    ARCHIVE = "archive"  # its workflow has ended


@dataclass(frozen=True, slots=True)
class CleanupOperation:
    """One line of `cleanup_log.json`: a file was moved, or could not be. Paths are in `orchestration/`."""

    timestamp: int
    operation: ArchivalOperation
    agent: str
    source: str
    target: str
    sha256: str
    done: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ArchivedSession:
    """One entry of `archive_index.json`. `notes` is how many notes the session holds."""

    agent: str
    task_id: str
    session_start: int
    archived_at: int
    file: str
    sha256: str
    notes: int


@dataclass(frozen=True, slots=True)
class Research:
    """A note on a technology that outlives its workflow, found by its front matter."""

    technology: str
    task_type: str
    keywords: tuple[str, ...]
    sources: tuple[str, ...]
    created: int
    workflow: str
    text: str
