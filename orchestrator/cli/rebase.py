"""`task rebase`: moves a task's work on top of what the user's tree has checked out now."""

from __future__ import annotations

from orchestrator.cli.tasks import about_task

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task rebase tidy --dry-run\n  task rebase tidy"
_ABOUT = """\
Replays each commit of the task's branch on top of what is checked out in the
project now. The result differs from what was tested, so when the task is
started the next time, the last subtask is tested again and the success
criteria are judged again. If a commit conflicts with what is there, nothing
is changed.\
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task rebase`."""
    parser.description = f"{parser.description}\n\n{_ABOUT}"
    about_task(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and do nothing")


def run(options: Namespace) -> int:
    """Rebase a task's branch."""
    from orchestrator.cli.rebasing import run as run_command

    return run_command(options)
