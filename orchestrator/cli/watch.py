"""`task watch`: all tasks live on one screen, with questions to answer there; by Textual, which is an optional part."""

from __future__ import annotations

import os
import sys

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.tasks import find

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from orchestrator.cli.tasks import TaskRecord

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

    try:
        from orchestrator.cli.watching.app import Watch
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"textual", "rich"}:
            raise
        raise CommandError(Exit.FAILED, REMEDY) from error
    Watch(state, meant).run(mouse=False)
    return Exit.DONE


def _is_terminal() -> bool:
    """Return whether this is a terminal on which a cursor can be moved."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
