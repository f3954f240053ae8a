"""Played agents of the five roles: what each hands on in JSON, as its order asks for it, and what goes wrong once.

The planner's first handoff lacks its acceptance criteria, the first audit fails, and the first cleanup wants the task
planned anew. The implementer says in its status what it found, by the script that its order names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.clis.answers import Reply, say
from tests.clis.hands import run, write
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.players import CRITERION
from tests.clis.spawned import Spawned, spawned

Steps = Generator[Reply, tuple[ToolResult, ...], None]

FINDING: Final = "It reads $5; both forms"
"""What the implementer says it found: with signs that a shell would take for its own."""

AUDIT: Final = "Nobody is greeted"
REPLAN: Final = "The greeting is in the wrong place"
KINDS: Final = {
    "planner": ("ready_for_implementation", "implementation_plan"),
    "implementer": ("ready_for_audit", "implementation"),
    "auditor": ("ready_for_cleanup", "audit_report"),
    "cleaner": ("complete", "cleanup_report"),
}
_SUFFIX: Final = ".handoff"


@dataclass
class RoleCast:
    """The five of one task. A turn is played again for each request of it, so what a run does is kept by its id."""

    _first: dict[str, str] = field(default_factory=dict)

    def turn(self, request: ModelRequest) -> Steps:
        """Play whoever the order is for."""
        me = spawned(request.prompt)
        first = self._first.setdefault(me.role, me.run) == me.run
        if me.role == "orchestrator":
            yield from _closes(request, me)
        else:
            written = yield from _works(request, me, first=first)
            yield me.hand_in(request, json.dumps(_handoff(me, written, first=first), indent=2), _SUFFIX)
        yield say("Done.")


def _works(
    request: ModelRequest, me: Spawned, *, first: bool
) -> Generator[Reply, tuple[ToolResult, ...], str]:
    """Write what a role makes, and return its path."""
    if me.role == "implementer":
        yield run(request, status_update(request.prompt, f"findings '{FINDING}'"))
        yield write(request, "greet.py", f"def greet():\n    return {me.run!r}\n")
        return "greet.py"
    if me.role == "cleaner" and not first:
        yield write(request, ".gitignore", f"# {me.run}\n*.pyc\n")
    path = f"{me.artifacts}/{me.run}.md"
    yield write(request, path, f"The {me.role}, by {me.run}.\n")
    return path


def status_update(prompt: str, words: str) -> str:
    """Return the command that an order gives for the status of its agent, with other words."""
    (command,) = re.findall(r"^ +(\S+status-update\.sh \S+) findings ", prompt, re.MULTILINE)
    return f"{command} {words}"


def _handoff(me: Spawned, written: str, *, first: bool) -> dict[str, Any]:
    transition, kind = KINDS[me.role]
    whole: dict[str, Any] = {
        "handoff": {"type": transition},
        "context": {"scope": "A greeting", "dependencies": ["greet.py"]},
        "deliverable": {
            "type": kind,
            "location": written,
            "summary": f"The {me.role} is done",
            "artifacts": [written],
        },
        "nextSteps": {"instructions": ["Go on"], "acceptanceCriteria": ["There is a greeting"]},
        "issues": [],
        "report": {"run": me.run, "inReplyTo": me.in_reply_to},
    }
    return whole | (_goes_wrong(me.role) if first else {})


def _goes_wrong(role: str) -> dict[str, Any]:
    """Return the parts of a role's first handoff that are otherwise."""
    match role:
        case "planner":
            return {"nextSteps": {"instructions": ["Go on"]}}
        case "auditor":
            return {"handoff": {"status": "rejected"}, "issues": [{"severity": "high", "description": AUDIT}]}
        case "cleaner":
            issue = {"severity": "medium", "description": REPLAN}
            return {"handoff": {"type": "requires_replanning"}, "issues": [issue]}
        case _:
            return {}


def _closes(request: ModelRequest, me: Spawned) -> Steps:
    mark = {"text": CRITERION, "met": True, "evidence": ["`greet.py`"]}
    report = {"run": me.run, "inReplyTo": me.in_reply_to, "status": "COMPLETE", "criteria": [mark]}
    whole = {
        "handoff": {"from": "ORCHESTRATOR"},
        "deliverable": {"summary": "All is there."},
        "report": report,
    }
    yield me.hand_in(request, json.dumps(whole, indent=2), _SUFFIX)
