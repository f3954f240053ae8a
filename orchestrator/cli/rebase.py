"""`task rebase`: lets a task's work stand upon what the user's tree has checked out today."""

from __future__ import annotations

from orchestrator.cli.tasks import about_task

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task rebase tidy --dry-run\n  task rebase tidy"
_ABOUT = """\
Makes each commit of the task's branch anew upon what is checked out in the
project now. What was tested before is not what lies there then: the last
subtask is tested again, and the success criteria are judged again, when the
task is started the next time. Where a commit is at odds with what is there,
nothing is changed.\
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what `task rebase` understands."""
    parser.description = f"{parser.description}\n\n{_ABOUT}"
    about_task(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")


def run(options: Namespace) -> int:
    """Rebase a task's branch."""
    from orchestrator.cli.rebasing import run as carried_out

    return carried_out(options)
