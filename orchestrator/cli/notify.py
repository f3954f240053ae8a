"""`task notify`: tries the channels, and shows what was told, what waits and what failed."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task notify test --channel phone\n  task notify list"
SHOWN = 20
HOW = """\
Without any channel set you are told by the bell of the terminal in which you
typed `task start`, by a line in tmux while you are attached, and on the desktop
where there is one. Others are set in the settings file (`task config` names
it): any address that apprise knows; tmux://, terminal:// and desktop:// are
those that need nothing. channels = [] is for nobody.

  [notify]
  channels = ["tmux://", "ntfy://my-topic name=phone rules=question,daemon"]
  quiet = "22:00-07:00"\
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what `task notify` understands."""
    parser.description = f"{parser.description}\n\n{HOW}"
    parser.add_argument(
        "action",
        choices=("test", "list"),
        help="test: send a message over each channel now, and say what became of it; exit 1 if one failed. "
        "list: what waits, and until when; what failed; what was told",
    )
    parser.add_argument("--channel", metavar="NAME", help="test: only this one")
    parser.add_argument(
        "--all", action="store_true", help=f"list: all that is kept, not only the last {SHOWN}"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Try the channels, or show the news."""
    from orchestrator.cli.notifying import run as carried_out

    return carried_out(options)
