"""`task diff`: what a task has changed, or one of its steps, or a try that was not good enough."""

from __future__ import annotations

from orchestrator.cli.tasks import about_task

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task diff tidy --stat\n  task diff tidy dev:one --attempt 1"


def arguments(parser: ArgumentParser) -> None:
    """Say what `task diff` understands."""
    about_task(parser)
    parser.add_argument(
        "step",
        metavar="STEP",
        nargs="?",
        help="only what this step or subtask changed; of one at work, what lies in its tree",
    )
    parser.add_argument("--attempt", metavar="N", type=int, help="of STEP: what this try at it changed")
    parser.add_argument("--stat", action="store_true", help="only which files, and how much")
    parser.add_argument(
        "--list", action="store_true", dest="listed", help="list the steps and tries that can be shown"
    )


def run(options: Namespace) -> int:
    """Show a change as `git diff` does."""
    from orchestrator.cli.diffing import run as carried_out

    return carried_out(options)
