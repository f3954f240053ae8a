"""`python -m orchestrator.notifications.senders.send`: sends one message and says what became of it.

Standard input is JSON: the address, the text, the deadline. The address comes this way since an argument can be
read by everybody on the machine.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from orchestrator.model.notification import DESKTOP, TERMINAL
from orchestrator.ports.sender import SendOutcome, SendResult

if TYPE_CHECKING:
    from collections.abc import Callable

TMUX = "tmux:"
TERMINAL_URL = f"{TERMINAL}:"
DESKTOP_URL = f"{DESKTOP}:"


def main() -> int:
    """Send what standard input says."""
    request: dict[str, Any] = json.load(sys.stdin)
    # Our own end, should whoever started us be killed and nobody else end us.
    signal.alarm(int(request["deadline"]) + 5)
    said = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    outcome = _way(request)(lambda: _say(said, "ready"))
    _say(said, json.dumps({"result": outcome.result.value, "reason": outcome.reason}))
    sys.stdout.flush()
    os._exit(0)  # whatever threads a library left running: they are not waited for


def _way(request: dict[str, Any]) -> Callable[[Callable[[], None]], SendOutcome]:
    """Return what sends the message; it calls its argument when all is imported and nothing was sent yet."""
    if request["url"].startswith(TMUX):
        from orchestrator.notifications.senders.tmux_sender import notify_tmux

        return _at_once(lambda: notify_tmux(request["socket"], request["title"], request["body"], os.environ))
    if request["url"].startswith(TERMINAL_URL):
        from orchestrator.notifications.senders.terminal_sender import notify_terminal

        return _at_once(
            lambda: notify_terminal(request["socket"], request["title"], request["body"], os.environ)
        )
    if request["url"].startswith(DESKTOP_URL):
        from orchestrator.notifications.senders.desktop_sender import notify_desktop

        return _at_once(
            lambda: notify_desktop(request["title"], request["body"], request["tone"], os.environ)
        )
    from orchestrator.notifications.senders.apprise_sender import Unusable, way_to

    def by_apprise(begin: Callable[[], None]) -> SendOutcome:
        try:
            send = way_to(request["url"], float(request["deadline"]))
        except Unusable as error:
            begin()
            return SendOutcome(SendResult.REFUSED, str(error))
        begin()
        return send(request["title"], request["body"], request["tone"])

    return by_apprise


def _at_once(notify: Callable[[], SendOutcome]) -> Callable[[Callable[[], None]], SendOutcome]:
    """Return what begins and sends in one, where nothing has to be made ready."""

    def send(begin: Callable[[], None]) -> SendOutcome:
        begin()
        return notify()

    return send


def _say(descriptor: int, word: str) -> None:
    os.write(descriptor, f"{word}\n".encode())


if __name__ == "__main__":
    sys.exit(main())
