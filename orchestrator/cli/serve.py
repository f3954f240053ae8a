"""`task serve`: all tasks as a local page for the browser, with questions to answer there.

Starlette and uvicorn, an optional part, are the server. It listens on loopback only.
"""

from __future__ import annotations

import os

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task serve                    (prints the address to open; Ctrl-C ends it)"
PORT = 8417
"""The port unless the user names one: the same each time, so that a forwarded port goes on working."""

REMEDY = (
    "serve needs Starlette and uvicorn, which are an extra: in this program's folder, "
    "`pipx install --force '.[serve]'` or `python3 -m pip install '.[serve]'`"
)
_EXTRA = frozenset({"starlette", "uvicorn", "anyio", "h11"})
_LAST_PORT = 65_535
_DIGITS = 5


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task serve`."""
    parser.add_argument(
        "--port",
        metavar="N",
        type=_port,
        default=PORT,
        help="the port, %(default)s if none is given; 0: a free one",
    )


def run(options: Namespace) -> int:
    """Serve the page until the user ends it."""
    try:
        from orchestrator.cli.serving.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise CommandError(Exit.FAILED, REMEDY) from error
    serve(layout.state_folder(os.environ), options.port)
    return Exit.DONE


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS and int(text) <= _LAST_PORT):
        from argparse import ArgumentTypeError

        raise ArgumentTypeError(f"a port is a number from 0 to {_LAST_PORT}")
    return int(text)
