"""`task undo`: reverses the file operations of a step, if nothing else has changed those files since."""

from __future__ import annotations

from orchestrator.cli.tasks import about_task

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task undo tidy dev:one --dry-run\n  task undo tidy dev:one"
_ABOUT = """\
For steps of agents with `hands: operations`, in a task that is at rest. Where
the step's work is on the task's branch, the branch gets a commit that reverses
it; elsewhere the files are put back where they lie. If any of them was changed
since, nothing is changed. The step then counts as not done: the next start
does it again, with all that depends on it.\
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task undo`."""
    parser.description = f"{parser.description}\n\n{_ABOUT}"
    about_task(parser)
    parser.add_argument("step", metavar="STEP", nargs="?", help="the step, or its subtask")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and do nothing")


def run(options: Namespace) -> int:
    """Undo a step."""
    from orchestrator.cli.undoing import run as run_command

    return run_command(options)
