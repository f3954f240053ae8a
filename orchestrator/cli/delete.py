"""`task delete`: takes a task away with all that belongs to it, once the user has seen what that is."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task delete tidy\n  task delete tidy --yes --unmerged"
_ABOUT = """\
Shows what goes, and asks. Work that no branch of yours has is named, and goes
only with --unmerged; `task archive` keeps all of it in one file instead.
Cut off half-way, the same command goes on.\
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what `task delete` understands."""
    parser.description = f"{parser.description}\n\n{_ABOUT}"
    parser.add_argument("name", metavar="NAME", help="the task, by name or id")
    parser.add_argument("--project", metavar="PATH", help="the task's project, if it is not where you are")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument(
        "--unmerged", action="store_true", help="also delete work that no branch of yours has"
    )
    parser.add_argument("--archived", action="store_true", help="delete an archived task: its file")


def run(options: Namespace) -> int:
    """Delete a task."""
    from orchestrator.cli.deleting import run as carried_out

    return carried_out(options)
