"""Changes of what is known of handoffs from role to role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.model.coordination import HandoffRecord


@dataclass(frozen=True, slots=True)
class HandoffRecorded:
    """A role has handed on, or what it handed on stands otherwise now: it was accepted, rejected, or completed."""

    id: str
    record: HandoffRecord
    kind: Literal["handoff_recorded"] = "handoff_recorded"
