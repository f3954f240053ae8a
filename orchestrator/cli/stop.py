"""`task stop`: ends the PM's work on a task, and its agents."""

from __future__ import annotations

import time

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.tasks import AT_WORK, Task, about_task, chosen

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task stop tidy"
PATIENCE = 60.0
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
    deadline = time.monotonic() + PATIENCE
    while task.told.get("state", "running") in AT_WORK or _live(task):
        if time.monotonic() > deadline:
            raise CommandError(
                Exit.FAILED,
                f"{task.name} is not stopped after {PATIENCE:.0f} s: "
                f"`task status {task.name}` shows what still lives",
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


def _live(task: Task) -> list[str]:
    return [
        harmless(agent.get("name")) for agent in task.told.get("agents", ()) if agent.get("state") != "gone"
    ]
