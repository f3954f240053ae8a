"""Requests that `task watch` has sent to the daemon, and their replies."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from orchestrator.cli import requests
from orchestrator.cli.exits import CommandError
from orchestrator.cli.tasks import TaskRecord
from orchestrator.model.errors import OrchestratorError


@dataclass
class _Pending:
    """A request whose reply is awaited."""

    home: str
    id: str
    what: str
    since: float = field(default_factory=time.monotonic)


class SentRequests:
    """What was asked of the daemon here, and not yet answered."""

    def __init__(self) -> None:
        self._pending: list[_Pending] = []

    def send(self, task: TaskRecord, verb: str, arguments: dict[str, str], what: str) -> str:
        """Leave a request where the daemon finds it; return what is to be said of that."""
        try:
            pending = requests.waiting(task.home, verb) if verb == "checkin" else None
            request = pending or requests.send(task.home, verb, arguments)
        except (CommandError, OrchestratorError, OSError) as error:
            return f"{what}: {error}"
        self._pending.append(_Pending(task.home, request, f"{task.name}, {what}"))
        return f"{task.name}, {what}: sent"

    def replies(self) -> list[str]:
        """Return what is to be said of the replies that have come; none of them is awaited any more."""
        said = []
        for each in list(self._pending):
            try:
                reply = requests.reply_so_far(each.home, each.id, time.monotonic() - each.since)
            except (CommandError, OSError, KeyError, ValueError) as error:
                reply = str(error)
            if reply is not None:
                self._pending.remove(each)
                said.append(f"{each.what}: {reply}")
        return said
