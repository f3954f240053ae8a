"""`task setup-agents`: writes the default agents into a project, adds what is missing, overwrites nothing (H5)."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

FORMS = ("claude", "codex", "gemini", "opencode", "kiro", "all")
EXAMPLE = "task setup-agents --project ~/src/shop"


def arguments(parser: ArgumentParser) -> None:
    """Say what `task setup-agents` understands."""
    parser.add_argument(
        "--project", metavar="PATH", default=".", help="the project's folder, if you are not in it"
    )
    parser.add_argument(
        "--form",
        choices=FORMS,
        help="for which CLI (usually: claude, which tasks read, and those installed)",
    )


def run(options: Namespace) -> int:
    """Write each default agent, skill and slash command in each form that is not there yet, and say so file by file."""
    from orchestrator.cli.agent_setup import run as carried_out

    return carried_out(options)
