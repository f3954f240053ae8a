"""Follows a running task until it ends or asks: prints a line for each finished step, or the PM's log."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Final

from orchestrator import layout
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import OF_TASK, CommandError, Exit
from orchestrator.cli.screen import coloured, columns, paint
from orchestrator.cli.steps_shown import StepsShown
from orchestrator.cli.tail import Tail, readable
from orchestrator.cli.tasks import TaskRecord

_PAUSE: Final = 0.1
_DOWN_PATIENCE: Final = 10.0
_CLEAR_LINE: Final = "\r\033[2K"


def follow(task: TaskRecord, shown: Tail | StepsShown, since: float) -> Exit:
    """Print what happens until the task has ended or waits; return its exit code.

    A `state.json` from before `since` does not count: it may still show how an earlier start ended.

    Args:
        task: the task.
        shown: the steps with what was printed of them, or the PM's log.
        since: when the task was started, in seconds since the epoch.

    Raises:
        CommandError: the daemon is down and did not come back.
        KeyboardInterrupt: the user pressed Ctrl-C; the task goes on.

    """
    last_up = time.monotonic()
    while True:
        task.read()  # before the log, so that everything that led to an end is printed before it
        _show(task.view.get("steps", []), shown)
        end = OF_TASK.get(task.view.get("state", ""), Exit.RUNNING)
        if end is not Exit.RUNNING and task.view.get("updated", 0.0) >= since:
            return end
        if Beat(layout.state_folder(os.environ)).up:
            last_up = time.monotonic()
        elif time.monotonic() - last_up > _DOWN_PATIENCE:
            raise CommandError(
                Exit.DOWN,
                "the daemon is down, so the task stands still; to let it go on: task daemon start",
            )
        time.sleep(_PAUSE)


def _show(steps: list[dict[str, Any]], shown: Tail | StepsShown) -> None:
    """Print the new lines and, on a terminal, a status line below them that the next call overwrites."""
    colour, width = coloured(sys.stdout), columns()
    if isinstance(shown, StepsShown):
        lines = shown.news(steps, width, colour=colour)
        now = (
            paint(at_work, "dim")
            if colour and (at_work := shown.at_work(steps, time.time(), width - 1))
            else ""
        )
        clear = _CLEAR_LINE if colour else ""
    else:
        lines, now, clear = [_logged(readable(line), colour=colour) for line in shown.lines()], "", ""
    if text := clear + "".join(f"{line}\n" for line in lines) + now:
        sys.stdout.write(text)
        sys.stdout.flush()


def _logged(line: str, *, colour: bool) -> str:
    """Return a line of the PM's log; a new phase in bold."""
    return paint(line, "bold") if colour and line.strip().startswith("phase ") else line
