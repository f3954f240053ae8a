"""`task merge`: merges a task's branch into the branch that the user has checked out, or undoes that."""

from __future__ import annotations

from orchestrator.cli.tasks import about_task

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task merge tidy --dry-run\n  task merge tidy\n  task merge tidy --undo"
_ABOUT = """\
Merges complete tasks only: each step passed, each criterion met. The target is
the branch that is checked out in the project. Nothing is changed if there is a
conflict, or if the merge would touch files with uncommitted changes.\
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task merge`."""
    parser.description = f"{parser.description}\n\n{_ABOUT}"
    about_task(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and do nothing")
    parser.add_argument("--anyway", action="store_true", help="merge what there is of an incomplete task")
    parser.add_argument(
        "--no-ff", action="store_true", help="make a merge commit even if a fast-forward is possible"
    )
    parser.add_argument(
        "--undo",
        action="store_true",
        help="set your branch back to where it was before, if nothing came on top",
    )


def run(options: Namespace) -> int:
    """Merge a task's branch, or undo that."""
    from orchestrator.cli.merging import run as run_command

    return run_command(options)
