"""`task order`: starts an agent with one sentence of instructions."""

from __future__ import annotations

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import harmless
from orchestrator.cli.tasks import parted

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = 'task order tidy review "Look at the error messages once more."'


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task order`."""
    parser.usage = "task order [NAME] AGENT TEXT…"
    parser.add_argument(
        "words",
        metavar="[NAME] AGENT TEXT",
        nargs="+",
        help="the task, if there are several here; the agent (`task setup-agents` writes the defaults); "
        "what it should do",
    )
    parser.add_argument("--project", metavar="PATH", help="the task's project, if it is not where you are")


def run(options: Namespace) -> int:
    """Request a run of the agent with these instructions."""
    from orchestrator.cli.requests import ask
    from orchestrator.model.names import checked_name

    task, words = parted(options.words, options.project)
    if len(words) < 2:  # noqa: PLR2004 (an agent and something to say)
        raise CommandError(Exit.USAGE, "name the agent and what it should do: `task order [NAME] AGENT TEXT`")
    agent = checked_name(words[0], "agent name")
    print(harmless(ask(task.home, "spawn", {"agent": agent, "instructions": " ".join(words[1:])})))
    return Exit.DONE
