"""Played agents that do the work of a whole task: each reads in its order who it is, and does what that one does."""

from __future__ import annotations

from collections.abc import Generator

from tests.clis.answers import Reply, say
from tests.clis.hands import run, write
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.spawned import Spawned, spawned

Steps = Generator[Reply, tuple[ToolResult, ...], None]


def whole_task(request: ModelRequest) -> Steps:
    """Play whoever the order is for: two subtasks, one blocker, one rejection, then all is well."""
    me = spawned(request.prompt)
    yield from {"explore": _explore, "plan": _plan, "dev": _dev}.get(me.role, _judge)(request, me)
    yield say("Done.")


def _explore(request: ModelRequest, me: Spawned) -> Steps:
    yield run(request, "ls")
    yield me.hand_in(request, me.report("## Completed Work\nLooked around.", "## Artifacts Generated\nNone"))


def _plan(request: ModelRequest, me: Spawned) -> Steps:
    subtasks = "## Subtasks\n- [one] Greet (agent: dev)\n- [two] Part (agent: dev; needs: one)"
    yield me.hand_in(
        request, me.report("## Completed Work\nPlanned.", "## Artifacts Generated\nNone", subtasks)
    )


def _dev(request: ModelRequest, me: Spawned) -> Steps:
    name = "greet" if "Greet" in me.instructions.partition("## Context")[0] else "part"
    if name == "greet" and "different approach" not in me.instructions:
        sections = ("## Completed Work\nNothing.", "## Blockers\nThere is no word for it.")
        yield me.hand_in(request, me.report(*sections, status="BLOCKED"))
        return
    text = f"def {name}():\n    return '{name}'\n"
    yield write(request, f"{name}.py", text)
    yield me.hand_in(
        request, me.report(f"## Completed Work\nWrote {name}.py.", "## Artifacts Generated\nNone")
    )


def _judge(request: ModelRequest, me: Spawned) -> Steps:
    rejects = me.role == "review" and "Rejected by" not in me.instructions and "first look" in me.instructions
    evidence = f"{me.artifacts}/seen.md"
    yield write(request, evidence, "Seen.\n")
    sections = ["## Completed Work\nLooked at it.", f"## Artifacts Generated\n- {evidence}"]
    if "- [x]" in request.prompt:
        sections.append(f"## Success Criteria\n- [x] There is a greeting. (evidence: {evidence})")
    yield me.hand_in(request, me.report(*sections, verdict="REJECTED" if rejects else "APPROVED"))
