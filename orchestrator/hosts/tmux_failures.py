"""What tmux says when it refuses, told apart."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.model.errors import Unavailable

_NO_SERVER: Final = re.compile(
    r"no server running|error connecting to .* \((No such file or directory|Connection refused)\)"
    r"|server exited|lost server"
)
_OTHER_PROTOCOL: Final = re.compile(r"protocol version mismatch")
_NO_TARGET: Final = re.compile(r"can't find (pane|window|session)|no current (target|session)|no sessions")


class TmuxFailed(Unavailable):
    """tmux answered a command with a refusal; the message has its words."""


class NoServer(TmuxFailed):
    """No tmux server runs on this socket."""


class OtherProtocol(TmuxFailed):
    """The server that runs on this socket is of another tmux than ours: no command reaches it until one is replaced."""


class NoTarget(TmuxFailed):
    """There is no such session, window or pane."""


def failure(cmd: str, words: str, where: str) -> TmuxFailed:
    """Return what it means that `tmux cmd` failed on the socket `where`, saying these words."""
    # Asked first: it is never to be taken for no server, whose agents would be gone.
    if _OTHER_PROTOCOL.search(words):
        return OtherProtocol(
            f"the tmux server on {where} is of another version than the tmux command ({words}): tmux was replaced "
            "while it ran. Put the former version back; or end that server, and with it every agent in it, then go on"
        )
    if _NO_SERVER.search(words):
        return NoServer(f"no tmux server runs on {where} ({words})")
    if _NO_TARGET.search(words):
        return NoTarget(f"tmux {cmd}: {words}")
    return TmuxFailed(f"tmux {cmd} failed: {words}")
