"""`task completion SHELL`: prints the script by which a shell completes `task`.

Neither shtab nor argcomplete will do: shtab knows no task names, and argcomplete loads every parser at each press of
a key (three to eight starts of Python). The script contains verbs and options; it asks `task complete` for names.
`scripts/docs reference` writes the scripts, from the parsers of all verbs.
"""

from __future__ import annotations

import os

from orchestrator.cli.exits import Exit

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task completion bash >> ~/.bashrc   (or: source <(task completion bash))"

SHELLS = ("bash", "zsh", "fish")


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task completion`."""
    parser.add_argument(
        "shell", choices=SHELLS, help="the shell; the first lines of its script say how to use it"
    )


def run(options: Namespace) -> int:
    """Print the script."""
    # Next to this file, wherever it is installed: `importlib.resources` costs as much as all verbs together.
    with open(f"{os.path.dirname(__file__)}/completions/task.{options.shell}", encoding="utf-8") as file:  # noqa: PTH120, PTH123 (no pathlib here)
        print(file.read(), end="")
    return Exit.DONE
