"""What an agent program tells of itself, in words that are the same for all of them (U2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.model.tool_request import ToolRequest
from orchestrator.model.usage import Usage
from orchestrator.model.usage_limit import Reset


class EventKind(StrEnum):
    """What happened to a turn."""

    STARTED = "started"  # the program is up
    TAKEN = "taken"  # it took a prompt: the receipt of an order
    ASKED = "asked"  # it wants leave for a tool call
    WAITING = "waiting"  # it shows a dialog, and nothing was asked by way of a hook
    RETRYING = "retrying"  # the model's service fails, and it tries again by itself
    USED = "used"  # what its run has used so far, in the middle of a turn
    ENDED = "ended"  # its turn is over
    FAILED = "failed"  # its turn is over because the model's service failed
    ABORTED = "aborted"  # somebody interrupted its turn


class Failure(StrEnum):
    """Why a turn failed."""

    LIMIT = "limit"  # a limit of use, which ends at some time
    OVERLOAD = "overload"  # the service cannot just now
    LOGIN = "login"
    CREDIT = "credit"
    CONTEXT = "context"  # the conversation is too long
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that a program told. Everything in it is data from outside.

    `session` is by what the conversation is resumed, `transcript` the file that it is kept in. `text` is what was
    taken (TAKEN), said last (ENDED), or what went wrong (FAILED, RETRYING). `background` counts tasks that go on
    after the turn. `reset` is when a limit ends. `usage` is what its run has used so far, where no transcript tells.
    """

    kind: EventKind
    session: str = ""
    transcript: str = ""
    text: str = ""
    tool_request: ToolRequest | None = None
    failure: Failure | None = None
    reset: Reset | None = None
    background: int = 0
    usage: Usage | None = None


class Say(StrEnum):
    """What a program that waits for an answer is told."""

    PASS = "pass"  # noqa: S105 - no password: nothing is said, it goes its way
    ALLOW = "allow"
    DENY = "deny"
    GO_ON = "go_on"  # its turn is not over yet
    CAUTION = "caution"  # its next tool call is not carried out, and it reads why


CAUTION: Final = "caution"
"""The name of the answer that a run reads ahead of its next tool call, whatever that is. Events have other names."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, with the reason that the agent reads."""

    say: Say
    reason: str = ""
