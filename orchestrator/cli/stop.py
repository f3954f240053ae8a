"""`task stop`: ends the PM's work on a task, and its agents."""

from __future__ import annotations

import time

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.tasks import AT_WORK, TaskRecord, about_task, called, chosen

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task stop tidy"
PATIENCE = 60.0
FAR_PATIENCE = 20.0
"""Seconds for which the end of agents on this machine, and on boxes, is waited for."""

_PAUSE = 0.05


def arguments(parser: ArgumentParser) -> None:
    """Say what `task stop` understands."""
    about_task(parser)


def run(options: Namespace) -> int:
    """Ask for the end, wait for it, and say what was ended."""
    from orchestrator.cli.requests import ask

    task = chosen(options)
    ended = _live(task)
    print(harmless(ask(task.home, "stop", {})))
    began = time.monotonic()
    while task.told.get("state", "running") in AT_WORK or _live(task):
        waited = time.monotonic() - began
        if waited > FAR_PATIENCE and (away := _only_on_boxes(task)):
            raise CommandError(
                Exit.FAILED,
                f"{task.name} is stopping; after {waited:.0f} s {away} did not say that it has ended. The PM goes on "
                f"trying, and starts nothing else: `task hosts` shows how each box is",
            )
        if waited > PATIENCE:
            raise CommandError(
                Exit.FAILED,
                f"{task.name} is not stopped after {waited:.0f} s: "
                f"`task status {called(task)}` shows what still lives",
            )
        time.sleep(_PAUSE)
        task.read()
    print(
        f"{task.name} is {task.told['state']}; "
        + (f"ended: {', '.join(ended)}" if ended else "no agent was running")
    )
    if task.told["state"] == "stopped":
        print(f"go on later: {typed('task', 'start', task.name, '--project', task.project)}")
    return Exit.DONE


def _only_on_boxes(task: TaskRecord) -> str:
    """Return the agents that live, and their boxes; nothing if one lives here, or none does."""
    live = [agent for agent in task.told.get("agents", ()) if agent.get("state") != "gone"]
    if not all(agent.get("host") for agent in live):
        return ""
    return ", ".join(f"{harmless(agent.get('name'))} on {harmless(agent['host'])}" for agent in live)


def _live(task: TaskRecord) -> list[str]:
    return [
        harmless(agent.get("name")) for agent in task.told.get("agents", ()) if agent.get("state") != "gone"
    ]
