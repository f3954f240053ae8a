"""`task start`: creates a task's folder and asks the daemon to begin it or go on with it (H1)."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task start tidy --project ~/src/shop --template tidy --follow"


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task start`."""
    parser.add_argument(
        "name", metavar="NAME", help="the task: a-z, 0-9, '_' and '-'; an existing one also by its id"
    )
    parser.add_argument("--project", metavar="PATH", help="the project's folder, if you are not in it")
    parser.add_argument("--template", metavar="T", help="the template for task.md (`task templates`)")
    parser.add_argument(
        "--family", metavar="F", help="the plan family for a new task.md: delivery, roles, workflow"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="check everything that it needs, and start nothing",
    )
    parser.add_argument(
        "--json", action="store_true", help="with --check: one JSON document (`task help json`)"
    )
    parser.add_argument("--yes", action="store_true", help="apply a changed Agent Config without asking")
    parser.add_argument(
        "--follow", action="store_true", help="show each step as it ends, until the task ends or asks"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="with --follow: the PM's log line by line, with run ids"
    )


def run(options: Namespace) -> int:
    """Create what is missing, hand the task to the daemon, and report what was done."""
    if options.check:  # without what starting needs: its first line comes at once
        from orchestrator.cli.start_check import check

        return check(options)
    from orchestrator.cli.starting import run as run_command

    return run_command(options)
