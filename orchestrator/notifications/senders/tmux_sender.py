"""`tmux://`: a line at the foot of every terminal that is attached to our own tmux server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.text import cut, one_line
from orchestrator.hosts.tmux import Tmux
from orchestrator.hosts.tmux_failures import NoServer, NoTarget
from orchestrator.model.errors import Unavailable
from orchestrator.notifications.terminals import ring
from orchestrator.ports.sender import SendOutcome, SendResult

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPTION: Final = "@agent_orchestrator_news"
_SHOWN: Final = 8000
"""Milliseconds for which the line stays."""

_LONGEST: Final = 400


def notify_tmux(socket: str, title: str, body: str, environ: Mapping[str, str]) -> SendOutcome:
    """Show a message to whoever looks at a task's session, and ring. Nobody does: refused, to be tried again.

    The text never stands in a format, where `#(…)` would run a command: an option holds it, and the format names
    that option.
    """
    tmux = Tmux(socket, environ)
    # A `;` at a word's end would be one between two commands.
    line = cut(one_line(f"{title}: {body}"), _LONGEST).rstrip(";")
    try:
        clients = [name for name in tmux.cmd("list-clients", "-F", "#{client_name}").stdout if name]
        terminals = tmux.cmd("list-clients", "-F", "#{client_tty}").stdout
        if not clients:
            return SendOutcome(SendResult.REFUSED, "nobody is attached")
        tmux.cmd("set-option", "-g", "--", _OPTION, line)
        for client in clients:
            tmux.cmd("display-message", "-c", client, "-d", str(_SHOWN), f"#{{{_OPTION}}}")
        for terminal in terminals:
            ring(terminal)
    except (NoServer, NoTarget):
        return SendOutcome(SendResult.REFUSED, "nobody is attached")
    except Unavailable as error:
        return SendOutcome(SendResult.UNKNOWN, one_line(str(error)))
    return SendOutcome(SendResult.DELIVERED)
