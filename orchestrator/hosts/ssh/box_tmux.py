"""The tmux server of our own on a box: commands of it by round trips, and how it is begun."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.runs import ROOT
from orchestrator.hosts.tmux_failures import failure
from orchestrator.model.errors import Unavailable

SOCKET: Final = "agent-orchestrator-box"
"""The name of the server (`tmux -L`): beside the user's own, and beside ours if we live there too."""

DEADLINE: Final = 10.0
"""Seconds that one command may take, its way there included: a frozen server would hang it for ever."""

_MOST: Final = 16 * 1_048_576  # bytes: 5,000 lines of a wide pane
_MISSING: Final = 127

# The settings are laid down by `runs.sh`. Of a login's environment the server gets so much: every pane that a user
# opens there inherits it.
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
    """What a tmux command printed."""

    stdout: list[str]


class BoxTmux:
    """One tmux server on a box, spoken to over the shared connection. Safe to call from several threads."""

    def __init__(self, link: Link, socket: str = SOCKET) -> None:
        self._link = link
        self._socket = socket

    def cmd(self, cmd: str, *args: str) -> Printed:
        """Run one tmux command there (or several, with ";" as a word between them) and return what it printed.

        Raises:
            NoServer: no server runs there.
            NoTarget: the session, window or pane is not there.
            TmuxFailed: tmux refused for another reason.
            Unavailable: tmux is not installed there. And whatever `Link.run` raises.

        """
        words = ["sh", "-c", _RUN, "sh", ROOT, self._socket, cmd, *args]
        ended = self._link.run(words, deadline=DEADLINE, most=_MOST)
        if ended.status == _MISSING:
            raise Unavailable(f"{self._link.address}: tmux is not installed there, or not on its PATH")
        if ended.status:
            said = " ".join(ended.err.decode(errors="backslashreplace").split())
            where = f"{self._link.address}, socket {self._socket}"
            raise failure(cmd, said or f"exit {ended.status}", where)
        return Printed(ended.out.decode(errors="backslashreplace").split("\n"))
