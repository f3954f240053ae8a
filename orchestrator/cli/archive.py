"""`task archive`: puts a task with all that belongs to it into one file and takes it away, or brings it back."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task archive tidy\n  task list --archived\n  task archive tidy --restore"
_ABOUT = """\
The file lies in the state folder and holds the task's folder, its journal and
logs, and its branches and kept tries. Cut off half-way, the same command goes
on.\
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what `task archive` understands."""
    parser.description = f"{parser.description}\n\n{_ABOUT}"
    parser.add_argument("name", metavar="NAME", help="the task, by name or id")
    parser.add_argument("--project", metavar="PATH", help="the task's project, if it is not where you are")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--restore", action="store_true", help="bring an archived task back")


def run(options: Namespace) -> int:
    """Archive a task, or bring one back."""
    from orchestrator.cli.archiving import run as carried_out

    return carried_out(options)
