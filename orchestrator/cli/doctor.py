"""`task doctor`: reports whether a task could run here, or agents on a host; what is missing, and how to repair it."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task doctor   (for a box: task doctor me@box:/srv/shop)"


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task doctor`."""
    parser.add_argument(
        "host",
        metavar="HOST",
        nargs="?",
        help="a box: user@host[:/path] or ssh://user@host:port[/path]; or a host of a kind: podman:IMAGE",
    )
    parser.add_argument(
        "--project", metavar="PATH", default=".", help="the project's folder, if you are not in it"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Examine, print each finding as soon as it is known, and return 1 if a task could not run."""
    if options.host is None and not options.json:
        import sys

        from orchestrator import __version__

        version = ".".join(map(str, sys.version_info[:3]))
        print(f"agent-orchestrator {__version__}, Python {version} ({sys.executable})", flush=True)
    from orchestrator.cli.checkup import run as run_command

    return run_command(options)
