"""Our own tmux server on a box: its commands by round trips, and how it is started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from orchestrator.hosts.ssh.runs import ROOT
from orchestrator.hosts.tmux_failures import failure
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import BoxLink

SOCKET: Final = "agent-orchestrator-box"
"""The name of the server (`tmux -L`): beside the user's own, and beside ours if we live there too."""

DEADLINE: Final = 10.0
"""Seconds that one command may take, transfer included: a frozen server would hang it forever."""

_MOST: Final = 16 * 1_048_576  # bytes: 5,000 lines of a wide pane
_MISSING: Final = 127

# `runs.sh` writes the settings. The server gets only these parts of a login's environment: every pane that a user
# opens there inherits them.
_RUN: Final = """
config=$HOME/$1/tmux.conf socket=$2
shift 2
exec env -i ${HOME+"HOME=$HOME"} ${LANG+"LANG=$LANG"} ${LANGUAGE+"LANGUAGE=$LANGUAGE"} ${LC_ALL+"LC_ALL=$LC_ALL"} \
    ${LC_CTYPE+"LC_CTYPE=$LC_CTYPE"} ${LOGNAME+"LOGNAME=$LOGNAME"} ${PATH+"PATH=$PATH"} ${SHELL+"SHELL=$SHELL"} \
    ${TMPDIR+"TMPDIR=$TMPDIR"} ${TMUX_TMPDIR+"TMUX_TMPDIR=$TMUX_TMPDIR"} ${TZ+"TZ=$TZ"} ${USER+"USER=$USER"} \
    tmux -u -f "$config" -L "$socket" "$@"
"""


@dataclass(frozen=True, slots=True)
class Printed:
    """The output of a tmux command."""

    stdout: list[str]


class BoxTmux:
    """One tmux server on a box, used over the shared connection. Safe to call from several threads."""

    def __init__(self, link: BoxLink, socket: str = SOCKET) -> None:
        self._link = link
        self._socket = socket

    def cmd(self, cmd: str, *args: str) -> Printed:
        """Run one tmux command there (or several, with ";" as a word between them) and return its output.

        Raises:
            NoServer: no server runs there.
            NoTarget: the session, window or pane does not exist.
            TmuxFailed: tmux refused for another reason.
            Unavailable: tmux is not installed there. And whatever `Link.run` raises.

        """
        words = ["sh", "-c", _RUN, "sh", ROOT, self._socket, cmd, *args]
        ended = self._link.run(words, deadline=DEADLINE, most=_MOST)
        if ended.status == _MISSING:
            raise Unavailable(
                f"{self._link.address}: tmux is not on the PATH of a plain command there: install it there"
            )
        if ended.status:
            message = " ".join(ended.err.decode(errors="backslashreplace").split())
            where = f"{self._link.address}, socket {self._socket}"
            raise failure(cmd, message or f"exit {ended.status}", where)
        return Printed(ended.out.decode(errors="backslashreplace").split("\n"))
