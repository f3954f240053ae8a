"""`task report`: one page about a task, or about all tasks of a night, to read in the morning."""

from __future__ import annotations

from orchestrator.cli.tasks import about_task

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task report tidy --open   (every task: task report --all)"


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task report`."""
    about_task(parser)
    parser.add_argument(
        "--all", action="store_true", help="all tasks on one page, the one that changed last first"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--html",
        action="store_true",
        help="print the page into a pipe or a file; on a terminal it is written to a file as without this option",
    )
    form.add_argument("--md", action="store_true", help="print it as Markdown")
    form.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")
    parser.add_argument(
        "--output", metavar="FILE", help="write to this file (report.html in the task's folder)"
    )
    parser.add_argument("--open", action="store_true", help="open the page in your browser")


def run(options: Namespace) -> int:
    """Gather the journal, the branch and the state, and write the page."""
    from orchestrator.cli.reporting import run as run_command

    return run_command(options)
