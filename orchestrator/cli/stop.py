"""`task stop`: ends the PM's work on a task, and its agents."""

from __future__ import annotations

import time

from orchestrator.cli.exits import SAID, CommandError, Exit
from orchestrator.cli.progress import Waiting
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.tasks import AT_WORK, TaskRecord, about_task, called, chosen

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task stop tidy"
PATIENCE = 60.0
FAR_PATIENCE = 20.0
"""Seconds to wait for the end of agents on this machine, and on boxes."""

_PAUSE = 0.05


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task stop`."""
    about_task(parser)


def run(options: Namespace) -> int:
    """Request the stop, wait for it, and report which agents ended."""
    from orchestrator.cli.requests import ask

    task = chosen(options)
    ended = _live(task)
    print(harmless(ask(task.home, "stop", {})))
    task.read()
    began = time.monotonic()
    with Waiting("waiting for the agents to end") as waiting:
        while task.view.get("state", "running") in AT_WORK or _live(task):
            waiting.look()
            waited = time.monotonic() - began
            if waited > FAR_PATIENCE and (away := _only_on_boxes(task)):
                raise CommandError(
                    Exit.FAILED,
                    f"{task.name} is stopping, but after {waited:.0f} s {away} has not confirmed its end. The PM keeps "
                    f"trying and starts nothing else; to see each box: `task hosts`",
                )
            if waited > PATIENCE:
                raise CommandError(
                    Exit.FAILED,
                    f"{task.name} is not stopped after {waited:.0f} s: "
                    f"`task status {called(task)}` shows what still lives",
                )
            ended += [name for name in _live(task) if name not in ended]
            time.sleep(_PAUSE)
            task.read()
    print(
        f"{task.name} is {SAID.get(task.view['state'], task.view['state'])}; "
        + (f"ended: {', '.join(ended)}" if ended else "no agent is running")
    )
    if task.view["state"] == "stopped":
        print(f"to go on later: {typed('task', 'start', task.name, '--project', task.project)}")
    return Exit.DONE


def _only_on_boxes(task: TaskRecord) -> str:
    """Return the live agents with their boxes; empty if one of them lives here, or none lives."""
    live = [agent for agent in task.view.get("agents", ()) if agent.get("state") != "gone"]
    if not all(agent.get("host") for agent in live):
        return ""
    return ", ".join(f"{harmless(agent.get('name'))} on {harmless(agent['host'])}" for agent in live)


def _live(task: TaskRecord) -> list[str]:
    return [
        harmless(agent.get("name")) for agent in task.view.get("agents", ()) if agent.get("state") != "gone"
    ]
