"""`task mcp`: lets an agent CLI of the user's look at tasks by the Model Context Protocol (MCP), over stdin and stdout.

It reads and asks as the other verbs do. Answering and starting need the user's permission, given where the user
configures the CLI; inside a run there is none (U4). The protocol's SDK is an optional part.
"""

from __future__ import annotations

import sys

from orchestrator.cli.exits import CommandError, Exit

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task mcp --may answer     (the command of a server, to give to an agent CLI)"
PERMISSIONS = ("answer", "start")
"""The tools that change something; each needs the user's permission."""

REMEDY = (
    "mcp needs the MCP SDK, which is an extra: in this program's folder, `pipx install --force '.[mcp]'` "
    "or `python3 -m pip install '.[mcp]'`"
)


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task mcp`."""
    parser.add_argument(
        "--may",
        metavar="TOOL",
        nargs="+",
        action="extend",
        default=[],
        choices=PERMISSIONS,
        help="what the client may do besides looking: answer, start; start runs what task.md says",
    )
    parser.epilog = f"an agent CLI starts it, and ends it by closing stdin\n\n{parser.epilog}"


def run(options: Namespace) -> int:
    """Serve until the client closes the connection."""
    if sys.stdin.isatty():
        raise CommandError(
            Exit.USAGE, "mcp speaks with an agent CLI, which starts it: see docs/how-to/mcp.md for each CLI"
        )
    try:
        from orchestrator.cli.mcp_server.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"anyio", "mcp"}:
            raise
        raise CommandError(Exit.FAILED, REMEDY) from error
    from orchestrator.cli.caller import run_around

    serve(frozenset(options.may), run_around())
    return Exit.DONE
