"""Changes of what is known of the agents of a workflow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.model.turn_end import AgentRecord


@dataclass(frozen=True, slots=True)
class AgentRecorded:
    """What is known of an agent beyond its steps has changed: its notes, or what it handed in."""

    agent: str
    record: AgentRecord
    kind: Literal["agent_recorded"] = "agent_recorded"
