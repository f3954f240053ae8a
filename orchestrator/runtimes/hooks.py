"""What a hook tells and reads in the form that Claude Code gave it; Codex has the same, Gemini CLI half of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from orchestrator.formats.told import text_of
from orchestrator.model.event import Event, EventKind, Reply, Say

FOREVER: Final = 86_400 * 7
"""Seconds that a hook may take: the answer may be a person's."""


DENIALS: Final = "denial-gate.sh"
"""The script ahead of tool calls that a program may let pass by itself, in a run's folder."""

DENIAL_GATE: Final = (Path(__file__).parent / "laid" / "denial_gate.sh").read_bytes()


def hook_event(told: Mapping[str, Any], kind: EventKind, **more: Any) -> Event:  # noqa: ANN401 (fields of Event)
    """Return an event of the session that a hook tells of."""
    return Event(kind, text_of(told, "session_id"), text_of(told, "transcript_path"), **more)


def hook_answer(reply: Reply) -> str:
    """Return what a hook prints that asked leave, or whether the turn may end. An empty text decides nothing."""
    match reply.say:
        case Say.ALLOW | Say.DENY:
            decision = {"behavior": reply.say.value}
            if reply.say is Say.DENY:
                decision["message"] = reply.reason
            named = {"hookEventName": "PermissionRequest", "decision": decision}
            return json.dumps({"hookSpecificOutput": named})
        case Say.GO_ON:
            return json.dumps({"decision": "block", "reason": reply.reason})
        case Say.PASS:
            return ""
