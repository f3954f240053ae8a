"""`task delete`: shows what belongs to a task, asks, and deletes it all."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task delete tidy\n  task delete tidy --yes --unmerged"
_ABOUT = """\
Shows what will be deleted, and asks. Lists work that no branch of yours has,
and deletes it only with --unmerged; `task archive` keeps it all in one file
instead. If it was interrupted, the same command continues.\
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task delete`."""
    parser.description = f"{parser.description}\n\n{_ABOUT}"
    parser.add_argument("name", metavar="NAME", help="the task, by name or id")
    parser.add_argument("--project", metavar="PATH", help="the task's project, if it is not where you are")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument(
        "--unmerged", action="store_true", help="also delete work that no branch of yours has"
    )
    parser.add_argument("--archived", action="store_true", help="delete an archived task: its file")


def run(options: Namespace) -> int:
    """Delete a task."""
    from orchestrator.cli.deleting import run as run_command

    return run_command(options)
