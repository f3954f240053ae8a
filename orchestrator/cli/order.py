"""`task order`: starts an agent with a sentence."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from orchestrator.cli.exits import Exit
from orchestrator.cli.requests import ask
from orchestrator.cli.screen import harmless
from orchestrator.cli.tasks import about_task, chosen
from orchestrator.model.names import checked_name

EXAMPLE = 'task order tidy review "Look at the error messages once more."'


def arguments(parser: ArgumentParser) -> None:
    """Say what `task order` understands."""
    about_task(parser)
    parser.add_argument(
        "agent", metavar="AGENT", help="the agent's name (`task setup-agents` writes the defaults)"
    )
    parser.add_argument("text", metavar="TEXT", nargs="+", help="what it should do")


def run(options: Namespace) -> int:
    """Ask for a run of the agent with these instructions."""
    agent = checked_name(options.agent, "agent name")
    task = chosen(options)
    print(harmless(ask(task.home, "spawn", {"agent": agent, "instructions": " ".join(options.text)})))
    return Exit.DONE
