"""`task merge`: brings a task's branch into what the user has checked out, or takes that back."""

from __future__ import annotations

from orchestrator.cli.tasks import about_task

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task merge tidy --dry-run\n  task merge tidy\n  task merge tidy --undo"
_ABOUT = """\
Merges only what is whole: a complete task, each step passed, each criterion
met. The branch that it goes into is the one that is checked out in the project.
Nothing is touched where both sides changed the same place, or where files of
yours are changed and not committed.\
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what `task merge` understands."""
    parser.description = f"{parser.description}\n\n{_ABOUT}"
    about_task(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    parser.add_argument(
        "--anyway", action="store_true", help="merge what is there of a task that is not whole"
    )
    parser.add_argument(
        "--no-ff", action="store_true", help="make a merge commit also where a fast-forward would do"
    )
    parser.add_argument(
        "--undo",
        action="store_true",
        help="set your branch back to where it stood before, if nothing came on top",
    )


def run(options: Namespace) -> int:
    """Merge a task's branch, or undo that."""
    from orchestrator.cli.merging import run as carried_out

    return carried_out(options)
