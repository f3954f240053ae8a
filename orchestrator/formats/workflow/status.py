"""`shared_status.json`: where a workflow and its agents stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from orchestrator.formats.text import FILE_BYTES
from orchestrator.formats.workflow.json_text import overlaid, rewritten
from orchestrator.formats.workflow.nodes import Fields, read_json
from orchestrator.model.errors import BadFile, BadName
from orchestrator.model.names import checked_name
from orchestrator.model.workflow import STATUS_FILE, AgentKind, WorkflowPlan
from orchestrator.model.workflow_records import (
    AgentEntry,
    AgentStatus,
    Gate,
    SharedStatus,
    VerificationStatus,
    VerifierEntry,
    WorkflowStatus,
)

GATE_KEY: Final = "overall_completion_drive_gate"
_MISSING_IN_AGENT: Final = {
    "completion_drive_notes_count": 0,
    "unresolved_notes": 0,
    "dependencies": [],
    "last_update": None,
}


def read_status(data: bytes, name: str = STATUS_FILE, limit: int = FILE_BYTES) -> SharedStatus:
    """Return what a shared status says. Missing `dependencies` are read as none, missing counts as 0.

    Raises:
        BadFile: with every fault: no JSON, a field that is missing or of another type, an unknown status.

    """
    return read_json(data, name, _status, limit)


def render_status(status: SharedStatus, base: bytes = b"") -> bytes:
    """Return a shared status as a file; fields of `base` that we do not know stay, also beside some that do not read.

    Agents and verifiers that `status` does not have are taken out.
    """

    def read(data: bytes) -> SharedStatus | None:
        try:
            return read_status(data)
        except BadFile:
            return None

    return rewritten(status, base, read, lambda old: _document(status, old))


def first_status(plan: WorkflowPlan) -> SharedStatus:
    """Return the shared status with which a plan begins: nobody has started."""
    verifiers = [agent.id for agent in plan.agents if agent.kind is AgentKind.VERIFIER]
    subjects: dict[str, list[str]] = {name: [] for name in verifiers}
    for agent in plan.agents:
        if agent.verifier in subjects:
            subjects[agent.verifier].append(agent.id)
    return SharedStatus(
        task_id=plan.workflow,
        status=WorkflowStatus.PENDING,
        session_start=None,
        agents=tuple(
            AgentEntry(agent.id, AgentStatus.PENDING, dependencies=agent.needs)
            for agent in plan.agents
            if agent.kind is not AgentKind.VERIFIER
        ),
        verification=tuple(
            VerifierEntry(name, VerificationStatus.PENDING, tuple(subjects[name])) for name in verifiers
        ),
    )


def _status(found: Fields) -> SharedStatus:
    return SharedStatus(
        task_id=found.text("task_id", blank=False),
        status=found.member("status", WorkflowStatus),
        session_start=found.optional_integer("session_start"),
        agents=tuple(_agent(name, each) for name, each in _named(found, "agents")),
        verification=tuple(
            VerifierEntry(
                name,
                each.member("status", VerificationStatus),
                each.names("assigned_agents"),
            )
            for name, each in _named(found, "verification")
        ),
        gate=found.member(GATE_KEY, Gate, Gate.CLEAR),
    )


def _agent(name: str, found: Fields) -> AgentEntry:
    return AgentEntry(
        name=name,
        status=found.member("status", AgentStatus),
        notes_count=found.integer("completion_drive_notes_count", 0),
        unresolved_notes=found.integer("unresolved_notes", 0),
        dependencies=found.names("dependencies", most=5000),
        last_update=found.optional_integer("last_update"),
    )


def _named(found: Fields, key: str) -> list[tuple[str, Fields]]:
    entries = list[tuple[str, Fields]]()
    for name, node, mark in found.entries(key):
        try:
            checked_name(name, "agent name")
        except BadName as problem:
            found.fault(f"`{key}`: {problem}", mark)
            continue
        entries.append((name, Fields(node, f"{key}.{name}", found.faults)))
    return entries


def _document(status: SharedStatus, old: Mapping[str, Any]) -> dict[str, Any]:
    agents, verifiers = _object(old, "agents"), _object(old, "verification")
    return overlaid(
        old,
        {
            "task_id": status.task_id,
            "status": status.status.value,
            "session_start": status.session_start,
            "agents": {each.name: _agent_values(each, agents.get(each.name)) for each in status.agents},
            "verification": {
                each.name: overlaid(
                    verifiers.get(each.name),
                    {"status": each.status.value, "assigned_agents": list(each.assigned_agents)},
                    {"assigned_agents": []},
                )
                for each in status.verification
            },
            GATE_KEY: status.gate.value,
        },
        {"session_start": None, "verification": {}, GATE_KEY: Gate.CLEAR.value},
    )


def _agent_values(entry: AgentEntry, old: object) -> dict[str, Any]:
    new = {
        "status": entry.status.value,
        "completion_drive_notes_count": entry.notes_count,
        "unresolved_notes": entry.unresolved_notes,
        "dependencies": list(entry.dependencies),
        "last_update": entry.last_update,
    }
    return overlaid(old, new, _MISSING_IN_AGENT)


def _object(old: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = old.get(key)
    return found if isinstance(found, Mapping) else {}
