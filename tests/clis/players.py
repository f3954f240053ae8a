"""Played agents that do the work of a whole task: each reads in its order who it is, and does what that one does."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

from tests.clis.answers import Reply, say
from tests.clis.hands import run, write
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.spawned import Spawned, spawned

Steps = Generator[Reply, tuple[ToolResult, ...], None]

CRITERION = "There is a greeting."


@dataclass
class Cast:
    """Everybody in a task of two subtasks: the first is blocked once and rejected once, then all is well.

    A turn is played again for each request of it, so what one decides is kept by its run.
    """

    _blocked: list[str] = field(default_factory=list)
    _rejected: list[str] = field(default_factory=list)

    def turn(self, request: ModelRequest) -> Steps:
        """Play whoever the order is for."""
        me = spawned(request.prompt)
        yield from {"explore": self._explore, "plan": self._plan, "dev": self._dev}.get(me.role, self._judge)(
            request, me
        )
        yield say("Done.")

    def _explore(self, request: ModelRequest, me: Spawned) -> Steps:
        yield run(request, "ls")
        yield me.hand_in(
            request, me.report("## Completed Work\nLooked around.", "## Artifacts Generated\nNone")
        )

    def _plan(self, request: ModelRequest, me: Spawned) -> Steps:
        subtasks = "## Subtasks\n- [one] Greet (agent: dev)\n- [two] Part (agent: dev; needs: one)"
        sections = ("## Completed Work\nPlanned.", "## Artifacts Generated\nNone", subtasks)
        yield me.hand_in(request, me.report(*sections))

    def _dev(self, request: ModelRequest, me: Spawned) -> Steps:
        name = "part" if "Part" in me.instructions.partition("## Context")[0] else "greet"
        if name == "greet" and _chosen(self._blocked, me.run):
            sections = ("## Completed Work\nNothing.", "## Blockers\nThere is no word for it.")
            yield me.hand_in(request, me.report(*sections, status="BLOCKED"))
            return
        yield write(request, f"{name}.py", f"def {name}():\n    return '{name}'\n")
        sections = (f"## Completed Work\nWrote {name}.py.", "## Artifacts Generated\nNone")
        yield me.hand_in(request, me.report(*sections))

    def _judge(self, request: ModelRequest, me: Spawned) -> Steps:
        sections = ["## Completed Work\nLooked at it.", "## Artifacts Generated\nNone"]
        if f"- [x] {CRITERION}" in request.prompt:
            evidence = f"{me.artifacts}/seen.md"
            yield write(request, evidence, "Seen.\n")
            sections = ["## Completed Work\nLooked at it.", f"## Artifacts Generated\n- {evidence}"]
            sections.append(f"## Success Criteria\n- [x] {CRITERION} (evidence: {evidence})")
        rejects = me.role == "review" and len(sections) == 2 and _chosen(self._rejected, me.run)
        yield me.hand_in(request, me.report(*sections, verdict="REJECTED" if rejects else "APPROVED"))


def _chosen(runs: list[str], run: str) -> bool:
    """Tell whether a run is the one that a thing happens to: the first that asks."""
    if not runs:
        runs.append(run)
    return run in runs
