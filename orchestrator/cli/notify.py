"""`task notify`: tries the channels, and lists which notifications were sent, wait, or failed."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task notify test --channel phone\n  task notify list"
SHOWN = 20
HOW = """\
While the settings have no `channels`, the bell of the terminal in which you
typed `task start` notifies you, a line in tmux while you are attached, and
the desktop if there is one. Set others in the settings file (`task config`
shows its path): any address that apprise knows. tmux://, terminal:// and
desktop:// need no set-up. channels = [] turns notifications off.

  [notify]
  channels = ["tmux://", "ntfy://my-topic name=phone rules=question,daemon"]
  quiet = "22:00-07:00"\
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task notify`."""
    parser.description = f"{parser.description}\n\n{HOW}"
    parser.add_argument(
        "action",
        choices=("test", "list"),
        help="test: send a message over each channel now and show the result; exit 1 if one failed. "
        "list: notifications that wait (and until when), failed, or were sent",
    )
    parser.add_argument("--channel", metavar="NAME", help="test: only this one")
    parser.add_argument(
        "--all", action="store_true", help=f"list: all that are kept, not only the last {SHOWN}"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Try the channels, or list the notifications."""
    from orchestrator.cli.notifying import run as run_command

    return run_command(options)
