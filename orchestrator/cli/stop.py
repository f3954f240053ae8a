"""`task stop`: ends the PM's work on a task, and its agents."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from typing import Final

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.requests import ask
from orchestrator.cli.screen import harmless
from orchestrator.cli.tasks import Task, about_task, chosen

EXAMPLE = "task stop tidy"
PATIENCE: Final = 60.0
_PAUSE: Final = 0.05
_ENDED: Final = frozenset({"stopped", "complete", "partial", "failed"})


def arguments(parser: ArgumentParser) -> None:
    """Say what `task stop` understands."""
    about_task(parser)


def run(options: Namespace) -> int:
    """Ask for the end, wait for it, and say what was ended."""
    task = chosen(options)
    ended = _live(task)
    print(harmless(ask(task.home, "stop", {})))
    deadline = time.monotonic() + PATIENCE
    while task.told.get("state") not in _ENDED or _live(task):
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
    print(f"go on later: task start {task.name} --project {harmless(task.project)}")
    return Exit.DONE


def _live(task: Task) -> list[str]:
    return [
        harmless(agent.get("name")) for agent in task.told.get("agents", ()) if agent.get("state") != "gone"
    ]
