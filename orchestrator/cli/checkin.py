"""`task checkin`: asks the PM to check a task now. Fit for cron: a second request while one waits adds nothing."""

from __future__ import annotations

from orchestrator.cli.exits import Exit
from orchestrator.cli.screen import harmless
from orchestrator.cli.tasks import about_task, chosen

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task checkin tidy"


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task checkin`."""
    about_task(parser)


def run(options: Namespace) -> int:
    """Request a check-in, unless a request is pending."""
    from orchestrator.cli.requests import answer_to, send, waiting

    task = chosen(options)
    request = waiting(task.home, "checkin") or send(task.home, "checkin", {})
    print(harmless(answer_to(task.home, request)))
    return Exit.DONE
