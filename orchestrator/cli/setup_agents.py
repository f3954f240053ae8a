"""`task setup-agents`: writes the default agents into a project; adds what is missing, overwrites nothing (H5)."""

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
        help="for which CLI (default: claude, which tasks read, and the installed ones)",
    )


def run(options: Namespace) -> int:
    """Write each default agent, skill and slash command that is missing, in each form, and print each file."""
    from orchestrator.cli.agent_setup import run as run_command

    return run_command(options)
