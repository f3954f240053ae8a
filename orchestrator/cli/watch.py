"""`task watch`: all tasks live on one screen, with questions to answer there; by Textual, which is an optional part."""

from __future__ import annotations

import os
import sys
import time

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.tasks import find

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from orchestrator.cli.tasks import TaskRecord
    from orchestrator.cli.watching.tasks_seen import TasksSeen

EXAMPLE = "task watch                    (all tasks)\n  task watch tidy"
REMEDY = (
    "watch needs Textual, which is an extra: in this program's folder, `pipx install --force '.[watch]'` "
    "or `python3 -m pip install '.[watch]'`"
)


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task watch`."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="only this task, by name or id")
    parser.add_argument("--project", metavar="PATH", help="only the tasks of this project")
    parser.epilog = (
        f"keys: arrows and Tab choose; a answers, t attaches, w explains, ? shows all\n\n{parser.epilog}"
    )


def run(options: Namespace) -> int:
    """Show the screen until the user ends it."""
    if not _is_terminal():
        raise CommandError(
            Exit.USAGE,
            "watch needs a terminal; without one: `task list` and `task status NAME`, also with --json",
        )
    state = layout.state_folder(os.environ)
    only = find(options.name, options.project).id if options.name else ""
    project = os.path.realpath(options.project) if options.project else ""

    def meant(task: TaskRecord) -> bool:
        return (not only or task.id == only) and (bool(only) or not project or task.project == project)

    return _shown(state, meant)


def _shown(state: str, meant: Callable[[TaskRecord], bool]) -> int:
    """Paint the first frame at once, and let Textual go on; return the exit code."""
    from orchestrator.cli.watching.early_screen import EarlyScreen
    from orchestrator.cli.watching.tasks_seen import TasksSeen

    seen = TasksSeen(state, meant)
    with EarlyScreen() as screen:
        seen.look()
        seen.look_at_daemon()
        screen.paint(_first_frame(seen, *screen.size()))
        try:
            from orchestrator.cli.watching.app import Watch
            from orchestrator.cli.watching.takeover import driver_for
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in {"textual", "rich"}:
                raise
            raise CommandError(Exit.FAILED, REMEDY) from error
        app = Watch(seen, driver_for(screen))
        app.run(mouse=False)
    return app.return_code or Exit.DONE


def _first_frame(seen: TasksSeen, width: int, height: int) -> list[str]:
    """Return the lines of the first frame; none if a `state.json` cannot be shown, of which Textual's will tell."""
    from orchestrator.cli.watching.first_frame import first_frame
    from orchestrator.cli.watching.picture import UNFIT

    daemon, colour = seen.fault or seen.daemon, "NO_COLOR" not in os.environ
    try:
        return first_frame(seen.records, daemon, width, height, time.time(), up=seen.daemon_up, colour=colour)
    except UNFIT:
        return []


def _is_terminal() -> bool:
    """Return whether this is a terminal on which a cursor can be moved. Textual draws on standard error."""
    there = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    return there and os.environ.get("TERM", "dumb") != "dumb"
