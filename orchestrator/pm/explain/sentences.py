"""A journal line as sentences for people: `task why` and the PM's live log show nothing else.

It reads the plain JSON of a line, so that no model is needed and a line of any version can be shown.
"""

from __future__ import annotations

import time
from typing import Any

from orchestrator.pm.explain.changes import sentence_of
from orchestrator.pm.explain.facts import happened


def explain(line: dict[str, Any]) -> list[str]:
    """Return what happened and what was decided, one sentence each; the first one begins with the time.

    `line` is a journal line in JSON form. Unknown kinds are named, never hidden.
    """
    if "fact" not in line:
        return []
    at = line.get("at", 0.0)
    clock = time.strftime("%H:%M:%S", time.localtime(at))
    sentences = [f"| {printed}" for change in line.get("changes", ()) for printed in _printed(change)]
    sentences += [text for change in line.get("changes", ()) if (text := sentence_of(change, at))]
    sentences += [_answer(each) for each in line.get("actions", ()) if each.get("kind") == "answer"]
    sentences += [
        f"notification: {each.get('title')}"
        for each in line.get("actions", ())
        if each.get("kind") == "notify"
    ]
    return [f"{clock} {_happened(line)}", *(f"         {text}" for text in sentences)]


def _happened(line: dict[str, Any]) -> str:
    """Return the sentence for a line's fact. Only the first start of a task begins it; what others do, they change."""
    fact = line["fact"]
    begins = any(change.get("kind") == "task_begun" for change in line.get("changes", ()))
    again = fact.get("kind") == "task_started" and not begins
    return f"the user asked to start {fact.get('name')}" if again else happened(fact)


def _printed(change: dict[str, Any]) -> list[str]:
    """Return the last lines of a run that failed, so that the cause is shown beside its effect."""
    cause = change.get("cause") if change.get("kind") == "step_troubled" else None
    return list(cause.get("lines") or ()) if isinstance(cause, dict) else []


def _answer(action: dict[str, Any]) -> str:
    reply = action.get("reply") or {}
    reason = f": {reply['reason']}" if reply.get("reason") else ""
    return f"run {action.get('run')} is answered {str(reply.get('say')).replace('_', ' ')}{reason}"
