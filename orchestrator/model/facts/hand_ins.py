"""What agents hand in: reports, answers, notes, statuses and decisions; and files that nobody may write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.model.consultation import PMDecision
from orchestrator.model.coordination import HandoffStatus, Issue, RoleStatus
from orchestrator.model.errors import Fault
from orchestrator.model.file_operations import OperationsRecord
from orchestrator.model.handoff import Report
from orchestrator.model.workflow_records import Session


@dataclass(frozen=True, slots=True)
class ReportLanded:
    """A file of an agent lies whole in `handoffs/`. Exactly one of `report` and `faults` says something.

    `sha256` is of its bytes; `missing` are the artifacts that it names and that are not on disk (law 6). `withheld` are
    those that lie on the agent's box and are not here, or not wholly, each with the reason.
    """

    at: float
    nonce: str
    name: str
    sha256: str
    instance: str
    report: Report | None = None
    faults: tuple[Fault, ...] = ()
    missing: tuple[str, ...] = ()
    withheld: tuple[tuple[str, str], ...] = ()
    kind: Literal["report_landed"] = "report_landed"


@dataclass(frozen=True, slots=True)
class OperationsSettled:
    """What a run of `hands: operations` handed in was carried out, or none of it: `record` says which, and why.

    Where it was carried out, the handoff of the run lies in `handoffs/`, and lands by itself.
    """

    at: float
    nonce: str
    run: str
    record: OperationsRecord
    kind: Literal["operations_settled"] = "operations_settled"


@dataclass(frozen=True, slots=True)
class NotesLanded:
    """An agent of a workflow, or somebody for it, changed its notes: they are taken before its turn ends.

    `own`: a run of that agent lives, so that the change is its own.
    """

    at: float
    nonce: str
    agent: str
    session: Session
    own: bool
    kind: Literal["notes_landed"] = "notes_landed"


@dataclass(frozen=True, slots=True)
class RoleStatusLanded:
    """The agent of a role changed its status file while its run works: `status` is what it says now."""

    at: float
    nonce: str
    run: str
    status: RoleStatus
    kind: Literal["role_status_landed"] = "role_status_landed"


@dataclass(frozen=True, slots=True)
class RoleHandoffEdited:
    """The receiver of a handoff changed its archived file while its run works.

    `status` is where it moved it, None if it did not; `issues` are those that it added.
    """

    at: float
    nonce: str
    run: str
    handoff: str
    status: HandoffStatus | None = None
    issues: tuple[Issue, ...] = ()
    kind: Literal["role_handoff_edited"] = "role_handoff_edited"


@dataclass(frozen=True, slots=True)
class EditsRefused:
    """A file says what nobody may write there, or not this one: `edits` are put back.

    `file` is the shared status of a workflow, the status of a role's agent, the archived handoff whose id is `handoff`
    (empty in journals that were written before it was said), the task's branch, or what an agent of a workflow or of a
    skill's phase has handed in.
    """

    at: float
    nonce: str
    edits: tuple[str, ...]
    file: str = "shared_status.json"
    handoff: str = ""
    kind: Literal["edits_refused"] = "edits_refused"


@dataclass(frozen=True, slots=True)
class DecisionLanded:
    """A handoff of the PM agent lies whole in `handoffs/`, of the run `run` of an open consultation.

    Exactly one of `decision` and `faults` says something. `sha256` is of its bytes.
    """

    at: float
    nonce: str
    name: str
    sha256: str
    run: str
    decision: PMDecision | None = None
    faults: tuple[Fault, ...] = ()
    kind: Literal["decision_landed"] = "decision_landed"


@dataclass(frozen=True, slots=True)
class Intruded:
    """Somebody who may not touch it did: a `pm-….md` that the PM did not write, a name that is no handoff.

    `others` are further such files that came soon after others, by name and hash.
    """

    at: float
    name: str
    sha256: str
    reason: str
    others: tuple[tuple[str, str], ...] = ()
    kind: Literal["intruded"] = "intruded"
