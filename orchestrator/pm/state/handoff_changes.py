"""Changes of what is known of handoffs from role to role, and of the agents that have these roles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from orchestrator.model.coordination import HandoffRecord, RoleStatusRecord


@dataclass(frozen=True, slots=True)
class HandoffRecorded:
    """A role has handed on, or what it handed on stands otherwise now: it was accepted, rejected, or completed."""

    id: str
    record: HandoffRecord
    kind: Literal["handoff_recorded"] = "handoff_recorded"


@dataclass(frozen=True, slots=True)
class RoleStatusRecorded:
    """The agent of a role says in its status file how its work stands."""

    agent: str
    record: RoleStatusRecord
    kind: Literal["role_status_recorded"] = "role_status_recorded"


HandoffChange: TypeAlias = HandoffRecorded | RoleStatusRecorded
