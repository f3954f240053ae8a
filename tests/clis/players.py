"""Played agents that do the work of a whole task: each reads in its order who it is, and does what that one does."""

from __future__ import annotations

import re
import time
from collections.abc import Generator
from dataclasses import dataclass, field

from tests.clis.answers import Reply, say
from tests.clis.hands import run, write
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.spawned import Spawned, spawned

Steps = Generator[Reply, tuple[ToolResult, ...], None]

LED = "The PM wants this done well:"
CRITERION = "There is a greeting."
SUMMED_UP = ("# USER\n", "# ASSISTANT\n")
"""How the prompt begins in which aider has a conversation that it goes on with summed up, once that is long."""

NO_ARTIFACTS = "## Artifacts Generated\nNone"


@dataclass
class Cast:
    """Everybody in a task of two subtasks: the first is blocked once and rejected once, then all is well.

    A turn is played again for each request of it, so what one decides is kept by its run.
    """

    _blocked: list[str] = field(default_factory=list)
    _rejected: list[str] = field(default_factory=list)

    def turn(self, request: ModelRequest) -> Steps:
        """Play whoever the order is for."""
        if request.prompt.startswith("# Agent: pm\n"):
            yield from _pm(request)
            return
        if request.prompt.startswith(SUMMED_UP):
            yield say("I asked you for a part of a task, and you did it.")
            return
        me = spawned(request.prompt)
        plays = {"explore": self._explore, "plan": self._plan, "dev": self._dev}.get(me.role, self._judge)
        yield from plays(request, me)
        yield say("Done.")

    def _explore(self, request: ModelRequest, me: Spawned) -> Steps:
        if request.conversation.tools:
            yield run(request, "ls")
        yield from hands_in(request, me, me.report("## Completed Work\nLooked around.", NO_ARTIFACTS))

    def _plan(self, request: ModelRequest, me: Spawned) -> Steps:
        subtasks = "## Subtasks\n- [one] Greet (agent: dev)\n- [two] Part (agent: dev; needs: one)"
        yield from hands_in(request, me, me.report("## Completed Work\nPlanned.", NO_ARTIFACTS, subtasks))

    def _dev(self, request: ModelRequest, me: Spawned) -> Steps:
        name = "part" if "Part" in me.instructions.partition("## Context")[0] else "greet"
        if name == "greet" and _chosen(self._blocked, me.run):
            sections = ("## Completed Work\nNothing.", "## Blockers\nThere is no word for it.")
            yield from hands_in(request, me, me.report(*sections, status="BLOCKED"))
            return
        report = me.report(f"## Completed Work\nWrote {name}.py.", NO_ARTIFACTS)
        yield from hands_in(request, me, report, {f"{name}.py": f"def {name}():\n    return '{name}'\n"})

    def _judge(self, request: ModelRequest, me: Spawned) -> Steps:
        sections, verdict = ["## Completed Work\nLooked at it.", NO_ARTIFACTS], "APPROVED"
        if f"- [x] {CRITERION}" in request.prompt:
            sections.append(f"## Success Criteria\n- [x] {CRITERION} (evidence: greet.py)")
        elif me.role == "review" and _chosen(self._rejected, me.run):
            verdict = "REJECTED"
        yield from hands_in(request, me, me.report(*sections, verdict=verdict))


def hands_in(request: ModelRequest, me: Spawned, report: str, files: dict[str, str] | None = None) -> Steps:
    """Write files and hand a report in; without any tool all of it is what the model says, in one message."""
    if not request.conversation.tools:
        blocks = "".join(f"{name}\n```\n{text}```\n\n" for name, text in (files or {}).items())
        yield say(blocks + report)
        return
    for name, text in (files or {}).items():
        yield write(request, name, text)
    yield me.hand_in(request, report)


def _pm(request: ModelRequest) -> Steps:
    """Order the first step that may be ordered, in the words of whoever leads."""
    (handoffs,) = re.findall(r"^One handoff or several.*: (/.*)/pm-", request.prompt, re.MULTILINE)
    run_id = re.findall(r"^\*\*Run:\*\* (r-.*)$", request.prompt, re.MULTILINE)[0]
    step = re.findall(
        r"^- (\S+) for \S+: ", request.prompt.partition("You may order these steps:")[2], re.MULTILINE
    )[0]
    head = ["# Handoff: pm", f"**Timestamp:** {time.strftime('%Y-%m-%d %H:%M:%S')}", "**Action:** ORDER"]
    head += [f"**Target:** {step}", f"**Run:** {run_id}", "", "## Instructions", f"{LED} {step}.", ""]
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(time.time() + 1))
    yield write(request, f"{handoffs}/pm-{stamp}.md", "\n".join(head))
    yield say("Ordered.")


def _chosen(runs: list[str], run: str) -> bool:
    """Tell whether a run is the one that a thing happens to: the first that asks."""
    if not runs:
        runs.append(run)
    return run in runs
