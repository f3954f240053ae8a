"""`task checkin`: lets the PM look at a task now. Made for cron as well: asked twice, it is one look."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from orchestrator.cli.exits import Exit
from orchestrator.cli.requests import answer_to, send, waiting
from orchestrator.cli.screen import harmless
from orchestrator.cli.tasks import about_task, chosen

EXAMPLE = "task checkin tidy"


def arguments(parser: ArgumentParser) -> None:
    """Say what `task checkin` understands."""
    about_task(parser)


def run(options: Namespace) -> int:
    """Ask for a check-in; one that already waits for the daemon is enough."""
    task = chosen(options)
    request = waiting(task.home, "checkin") or send(task.home, "checkin", {})
    print(harmless(answer_to(task.home, request)))
    return Exit.DONE
