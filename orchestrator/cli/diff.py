"""`task diff`: shows what a task, one of its steps, or a rejected attempt has changed."""

from __future__ import annotations

from orchestrator.cli.tasks import about_task

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task diff tidy --stat\n  task diff tidy dev:one --attempt 1"


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task diff`."""
    about_task(parser)
    parser.add_argument(
        "step",
        metavar="STEP",
        nargs="?",
        help="only what this step or subtask changed; while it works, what is in its tree",
    )
    parser.add_argument("--attempt", metavar="N", type=int, help="what this attempt at STEP changed")
    parser.add_argument("--stat", action="store_true", help="only which files changed, and how much")
    parser.add_argument(
        "--list", action="store_true", dest="listed", help="list the steps and attempts that can be shown"
    )


def run(options: Namespace) -> int:
    """Print a change as `git diff` does."""
    from orchestrator.cli.diffing import run as run_command

    return run_command(options)
