"""`task setup-agents`: writes what ships for agent CLIs into a project; overwrites nothing (H5)."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

FORMS = ("claude", "codex", "gemini", "opencode", "kiro", "all")
EXAMPLE = "task setup-agents --project ~/src/shop"


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task setup-agents`."""
    parser.add_argument(
        "--project", metavar="PATH", default=".", help="the project's folder, if you are not in it"
    )
    parser.add_argument(
        "--form",
        choices=FORMS,
        help="for which CLI (default: claude, which tasks read, and the installed ones; with --remove: all)",
    )
    parser.add_argument(
        "--workflow",
        action="store_true",
        help="the personas and instruction templates of workflows, instead of the default agents",
    )
    parser.add_argument(
        "--remove",
        action="store_true",
        help="remove what it wrote, except files that were changed",
    )


def run(options: Namespace) -> int:
    """Write what is missing of the default agents or the personas of workflows, or remove them; print each file."""
    from orchestrator.cli.agent_setup import run as run_command

    return run_command(options)
