"""What tmux says when it refuses, told apart."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.model.errors import Unavailable

_NO_SERVER: Final = re.compile(
    r"no server running|error connecting to .* \((No such file or directory|Connection refused)\)"
    r"|server exited|lost server"
)
_NO_TARGET: Final = re.compile(r"can't find (pane|window|session)|no current (target|session)|no sessions")


class TmuxFailed(Unavailable):
    """tmux answered a command with a refusal; the message has its words."""


class NoServer(TmuxFailed):
    """No tmux server runs on this socket."""


class NoTarget(TmuxFailed):
    """There is no such session, window or pane."""


def failure(cmd: str, words: str, where: str) -> TmuxFailed:
    """Return what it means that `tmux cmd` failed on the socket `where`, saying these words."""
    if _NO_SERVER.search(words):
        return NoServer(f"no tmux server runs on {where} ({words})")
    if _NO_TARGET.search(words):
        return NoTarget(f"tmux {cmd}: {words}")
    return TmuxFailed(f"tmux {cmd} failed: {words}")
