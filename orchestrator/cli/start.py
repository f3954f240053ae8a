"""`task start`: makes a task's folder, and lets the PM begin, or go on, with it (HUB 10.1, H1)."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task start tidy --project ~/src/shop --template tidy --follow"


def arguments(parser: ArgumentParser) -> None:
    """Say what `task start` understands."""
    parser.add_argument(
        "name", metavar="NAME", help="the task: a-z, 0-9, '_' and '-'; one that is there, also by id"
    )
    parser.add_argument("--project", metavar="PATH", help="the project's folder, if you are not in it")
    parser.add_argument("--template", metavar="T", help="what task.md is made from (`task templates`)")
    parser.add_argument(
        "--check",
        action="store_true",
        help="look whether it could start, with all that it needs; start nothing",
    )
    parser.add_argument(
        "--json", action="store_true", help="of --check: one JSON document (`task help json`)"
    )
    parser.add_argument(
        "--yes", action="store_true", help="take over a changed Agent Config without being asked about it"
    )
    parser.add_argument(
        "--follow", action="store_true", help="show each step as it ends, until the task ends or asks"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="with --follow: the PM's log line by line, with run ids"
    )


def run(options: Namespace) -> int:
    """Make what is missing, hand the task to the daemon, and say what was done."""
    from orchestrator.cli.starting import run as carried_out

    return carried_out(options)
