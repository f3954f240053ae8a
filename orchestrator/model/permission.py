"""Permissions: what the user's rules allow an agent to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Act(StrEnum):
    """What a tool call does."""

    READ = "read"
    WRITE = "write"
    RUN = "run"
    FETCH = "fetch"
    ASK = "ask"  # the agent wants to ask a person
    OTHER = "other"  # tools of MCP servers, and unknown ones


class PermissionDecision(StrEnum):
    """The answer to an agent that asks for a permission."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"  # a person decides


@dataclass(frozen=True, slots=True)
class PermissionRule:
    """One rule of the user's. `act` None: `pattern` is the name of a tool. An empty pattern speaks of every such act.

    `source` says where it stands, in words.
    """

    decision: PermissionDecision
    act: Act | None
    pattern: str
    source: str = ""

    def __str__(self) -> str:
        """The rule as it is written."""
        return " ".join(filter(None, (self.decision, self.act or "tool", self.pattern)))


@dataclass(frozen=True, slots=True)
class Permissions:
    """What task.md says in one `permissions:` line; `otherwise` None leaves that to what is more general."""

    rules: tuple[PermissionRule, ...] = ()
    otherwise: PermissionDecision | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """`[permissions]`: what agents may do without a person being asked; task.md may say more for one task."""

    rules: tuple[PermissionRule, ...] = ()
    """Rules for the agents of all tasks, such as `allow run uv *` or `deny fetch`."""

    otherwise: PermissionDecision = PermissionDecision.ASK
    """What happens to a tool call that no rule covers: `allow`, `deny`, or `ask` a person."""

    wait: float = 1800.0
    """How long a permission question waits for an answer, in seconds; then the call is denied."""
