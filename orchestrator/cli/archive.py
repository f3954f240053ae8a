"""`task archive`: packs a task with all that belongs to it into one file and removes it, or restores it."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task archive tidy\n  task list --archived\n  task archive tidy --restore"
_ABOUT = """\
The file is in the state folder and holds the task's folder, its journal and
logs, its branches and its kept tries. If it was interrupted, the same command
continues.\
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task archive`."""
    parser.description = f"{parser.description}\n\n{_ABOUT}"
    parser.add_argument("name", metavar="NAME", help="the task, by name or id")
    parser.add_argument("--project", metavar="PATH", help="the task's project, if it is not where you are")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--restore", action="store_true", help="restore an archived task")


def run(options: Namespace) -> int:
    """Archive a task, or restore one."""
    from orchestrator.cli.archiving import run as run_command

    return run_command(options)
