"""A journal line as sentences that a person understands: `task why` and the PM's live log say nothing else.

Reads the plain JSON of a line, so that a reader needs no model and a line of any version is shown.
"""

from __future__ import annotations

import time
from typing import Any

from orchestrator.pm.explain.changes import told_of
from orchestrator.pm.explain.facts import happened


def explain(line: dict[str, Any]) -> list[str]:
    """Return what happened and what was decided, a sentence each; the first bears the time.

    `line` is a journal line as JSON gives it. Unknown kinds are named, never hidden.
    """
    if "fact" not in line:
        return []
    at = line.get("at", 0.0)
    clock = time.strftime("%H:%M:%S", time.localtime(at))
    told = [f"| {printed}" for change in line.get("changes", ()) for printed in _printed(change)]
    told += [text for change in line.get("changes", ()) if (text := told_of(change, at))]
    told += [_answer(each) for each in line.get("actions", ()) if each.get("kind") == "answer"]
    told += [
        f"to be sent: {each.get('title')}" for each in line.get("actions", ()) if each.get("kind") == "notify"
    ]
    return [f"{clock} {happened(line['fact'])}", *(f"         {text}" for text in told)]


def _printed(change: dict[str, Any]) -> list[str]:
    """Return the last lines of a run that failed: the cause stands where its effect is."""
    cause = change.get("cause") if change.get("kind") == "step_troubled" else None
    return list(cause.get("lines") or ()) if isinstance(cause, dict) else []


def _answer(action: dict[str, Any]) -> str:
    reply = action.get("reply") or {}
    reason = f": {reply['reason']}" if reply.get("reason") else ""
    return f"run {action.get('run')} is answered {str(reply.get('say')).replace('_', ' ')}{reason}"
