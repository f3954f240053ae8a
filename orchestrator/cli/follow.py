"""A task as it goes: what the PM's log says, line by line, until the task ends or asks."""

from __future__ import annotations

import os
import sys
import time
from typing import Final

from orchestrator import places
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import OF_TASK, CommandError, Exit
from orchestrator.cli.screen import coloured, paint
from orchestrator.cli.tail import Tail, readable
from orchestrator.cli.tasks import Task

_PAUSE: Final = 0.1
_DOWN_PATIENCE: Final = 10.0


def follow(task: Task, log: Tail, since: float) -> Exit:
    """Print what happens until the task has ended or waits; return how it then stands.

    What `state.json` said before `since` is over: it may still show how an earlier start ended.

    Raises:
        CommandError: the daemon went away and did not come back.
        KeyboardInterrupt: the user has seen enough; the task goes on.

    """
    colour = coloured(sys.stdout)
    last_up = time.monotonic()
    while True:
        task.read()  # before the log: so that all that led to an end is shown before it
        for line in log.lines():
            print(_shown(readable(line), colour=colour), flush=True)
        end = OF_TASK.get(task.told.get("state", ""), Exit.RUNNING)
        if end is not Exit.RUNNING and task.told.get("updated", 0.0) >= since:
            return end
        if Beat(places.state_folder(os.environ)).up:
            last_up = time.monotonic()
        elif time.monotonic() - last_up > _DOWN_PATIENCE:
            raise CommandError(
                Exit.DOWN,
                "the daemon is down, so nothing more happens: `task daemon start` lets the task go on",
            )
        time.sleep(_PAUSE)


def _shown(line: str, *, colour: bool) -> str:
    """Return a line of the PM's log; a new phase stands out."""
    return paint(line, "bold") if colour and line.strip().startswith("phase ") else line
