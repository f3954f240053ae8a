"""The status of an agent: `agent-status/AGENT.json` (C4). `scripts/status-update.sh` writes it, too."""

from __future__ import annotations

import re
from typing import Any, Final

from orchestrator.formats.coordination.fields import handoff_id, text, texts, time, unnamed, with_others
from orchestrator.formats.strict_json import load_json
from orchestrator.formats.text import FILE_BYTES, refused
from orchestrator.formats.workflow.json_text import rewritten
from orchestrator.formats.workflow.nodes import Fields, json_node
from orchestrator.model.coordination import AgentActivity, PipelineRole, RoleStatus, WaitingFor
from orchestrator.model.errors import BadFile, Fault

SHAPE: Final[dict[str, Any]] = dict.fromkeys(
    (
        "agentId",
        "role",
        "status",
        "lastUpdate",
        "currentTask",
        "progress",
        "findings",
        "handoffId",
        "nextRole",
        "waitingFor",
        "blockedBy",
    )
)
_PROGRESS: Final = re.compile(r"0(\.[0-9]{1,6})?|1(\.0{1,6})?")


def read_role_status(data: bytes, name: str, limit: int = FILE_BYTES) -> RoleStatus:
    """Return the status of an agent.

    Raises:
        BadFile: with every fault: no JSON, a field of another type or outside its closed set, an agent's id that is
            not the name of the file.

    """
    loaded = load_json(data, name, limit)
    if not isinstance(loaded, dict):
        raise BadFile(name, [Fault(1, "is not a JSON object: begin with `{`")])
    faults = list[Fault]()
    found = Fields(json_node(loaded), "", faults)
    status = RoleStatus(
        agent=found.name("agentId"),
        role=found.member("role", PipelineRole) if found.has("role") else None,
        activity=found.member("status", AgentActivity),
        updated=time(found, "lastUpdate") or "",
        current_task=text(found, "currentTask"),
        progress=_progress(found),
        findings=texts(found, "findings") or (),
        handoff=handoff_id(found, "handoffId"),
        next_role=found.member("nextRole", PipelineRole) if found.has("nextRole") else None,
        waiting_for=found.member("waitingFor", WaitingFor) if found.has("waitingFor") else None,
        blocked_by=texts(found, "blockedBy") or (),
        others=unnamed(loaded, SHAPE),
    )
    if not found.has("lastUpdate"):
        found.fault("`lastUpdate` is missing: write a moment in UTC, such as 2025-12-11T14:35:00Z")
    named = name.rpartition("/")[2].removesuffix(".json")
    if status.agent and named not in {name, status.agent}:
        found.fault(
            f"`agentId` is {status.agent}, but this is the file of {named[:64]!a}: each agent has its own"
        )
    if faults:
        raise refused(name, faults)
    return status


def render_role_status(status: RoleStatus, base: bytes = b"") -> bytes:
    """Return the status of an agent as a file. `base`, the file as it is, stays if it says the same."""
    made = {
        "agentId": status.agent,
        "role": status.role,
        "status": status.activity,
        "lastUpdate": status.updated,
        "currentTask": status.current_task,
        "progress": status.progress,
        "findings": list(status.findings),
        "handoffId": status.handoff,
        "nextRole": status.next_role,
        "waitingFor": status.waiting_for,
        "blockedBy": list(status.blocked_by),
    }
    return rewritten(
        status,
        base,
        lambda data: read_role_status(data, f"{status.agent}.json"),
        lambda _: with_others(made, status.others),
    )


def _progress(found: Fields) -> str | None:
    value = text(found, "progress")
    if value is not None and not _PROGRESS.fullmatch(value):
        found.fault(f"`progress` is {value[:40]!a}: write a fraction from 0 to 1 in quotes, such as 0.75")
    return value
