"""`terminal://`: the bell of the terminals from which the user started tasks, a line for who is attached in tmux.

Only the bell reaches a terminal that is somebody's shell: text would be written into what they do there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.notifications.senders.tmux_sender import notify_tmux
from orchestrator.notifications.terminals import ring, terminals
from orchestrator.ports.sender import SendOutcome, SendResult

if TYPE_CHECKING:
    from collections.abc import Mapping


def notify_terminal(socket: str, title: str, body: str, environ: Mapping[str, str]) -> SendOutcome:
    """Ring where the user is, and show the message where there is room for it. Nobody is there: refused."""
    rung = [each for each in terminals(layout.state_folder(environ)) if ring(each.path)]
    shown = notify_tmux(socket, title, body, environ)
    if shown.result is SendResult.DELIVERED:
        return shown
    if rung:
        return SendOutcome(
            SendResult.DELIVERED, f"the bell of {len(rung)} terminal{'' if len(rung) == 1 else 's'}"
        )
    if shown.result is SendResult.UNKNOWN:
        return shown
    return SendOutcome(
        SendResult.REFUSED, "no terminal is open from which a task was started, and nobody is attached"
    )
