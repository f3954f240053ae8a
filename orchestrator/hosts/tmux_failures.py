"""The different reasons for which tmux refuses a command."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.model.errors import Lasting, Unavailable

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


class OtherProtocol(TmuxFailed, Lasting):
    """The server on this socket is of another tmux version: no command reaches it until one of the two is replaced."""


class NoTarget(TmuxFailed):
    """The session, window or pane does not exist."""


def is_of_another_version(words: str) -> bool:
    """Return whether tmux says that the server is of another version than itself."""
    return _OTHER_PROTOCOL.search(words) is not None


def failure(cmd: str, words: str, where: str, server: int = 0) -> TmuxFailed:
    """Return the error for `tmux cmd`, which failed on the socket `where` with these words.

    `server` is the pid of the server that listens there, 0 if it is not known.
    """
    # Checked first: it must never be taken for a missing server, whose agents would be gone.
    if is_of_another_version(words):
        return OtherProtocol(
            f"the tmux server on {where} is of another version than the tmux command ({words}): tmux was replaced "
            "while it ran. Restore the former version; or end that server, and with it every agent in it"
            f"{f' (kill {server})' if server else ''}, then go on"
        )
    if _NO_SERVER.search(words):
        return NoServer(f"no tmux server runs on {where} ({words})")
    if _NO_TARGET.search(words):
        return NoTarget(f"tmux {cmd}: {words}")
    return TmuxFailed(f"tmux {cmd} failed: {words}")
