"""`task checkin`: lets the PM look at a task now. Made for cron as well: asked twice, it is one look."""

from __future__ import annotations

from orchestrator.cli.exits import Exit
from orchestrator.cli.screen import harmless
from orchestrator.cli.tasks import about_task, chosen

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task checkin tidy"


def arguments(parser: ArgumentParser) -> None:
    """Say what `task checkin` understands."""
    about_task(parser)


def run(options: Namespace) -> int:
    """Ask for a check-in; one that already waits for the daemon is enough."""
    from orchestrator.cli.requests import answer_to, send, waiting

    task = chosen(options)
    request = waiting(task.home, "checkin") or send(task.home, "checkin", {})
    print(harmless(answer_to(task.home, request)))
    return Exit.DONE
