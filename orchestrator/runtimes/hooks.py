"""What a hook tells and reads in the form that Claude Code gave it; Codex has the same, Gemini CLI half of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from shlex import join
from typing import Any, Final

from orchestrator.formats.json_fields import text_of
from orchestrator.model.event import Event, EventKind, Reply, Say

FOREVER: Final = 86_400 * 7
"""Seconds that a hook may take: the answer may be a person's."""


CAUTION: Final = "caution.sh"
"""In a run's folder: the hook ahead of each tool call, which says what the PM has to say to the agent, once."""

CAUTION_FILES: Final = {CAUTION: (Path(__file__).parent / "laid" / CAUTION).read_bytes()}
"""Read at the start: a daemon whose package is replaced goes on with the one that it was tested with."""

CANNOT_ASK: Final = Reply(
    Say.DENY, "The PM cannot be asked for leave just now. Do without, or try again later."
)
"""What an agent is told whose wish could not be handed over: a dialog at its screen would wait for nobody."""


def caution(folder: Path) -> str:
    """Return the shell command for the hook ahead of each tool call of a run, by the run's folder."""
    return join(["sh", str(folder / CAUTION)])


DENIALS: Final = "denial-gate.sh"
"""In a run's folder: the hook ahead of tool calls that a program may let pass by itself."""

DENIAL_FILES: Final = {DENIALS: (Path(__file__).parent / "laid" / "denial_gate.sh").read_bytes()}


def denial(folder: Path) -> str:
    """Return the shell command for the hook that holds a tool call against what is denied, by the run's folder."""
    return join(["sh", str(folder / DENIALS)])


def hook_event(payload: Mapping[str, Any], kind: EventKind, **more: Any) -> Event:  # noqa: ANN401 (fields of Event)
    """Return an event of the session that a hook tells of."""
    return Event(kind, text_of(payload, "session_id"), text_of(payload, "transcript_path"), **more)


def hook_answer(reply: Reply) -> str:
    """Return what a hook prints: for leave, at the end of a turn, or ahead of a tool. An empty text decides nothing."""
    match reply.say:
        case Say.ALLOW | Say.DENY:
            decision = {"behavior": reply.say.value}
            if reply.say is Say.DENY:
                decision["message"] = reply.reason
            named = {"hookEventName": "PermissionRequest", "decision": decision}
            return json.dumps({"hookSpecificOutput": named})
        case Say.CAUTION:
            refused = {"permissionDecision": "deny", "permissionDecisionReason": reply.reason}
            return json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **refused}})
        case Say.GO_ON:
            return json.dumps({"decision": "block", "reason": reply.reason})
        case Say.PASS:
            return ""
