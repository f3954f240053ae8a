"""A window here that shows a session on a box: its command, and that there is one per task and box.

The agent lives in a tmux there, so a window that is cut off, closed or never opened costs it nothing. The window
attaches over the existing connection, and never makes one: only the box's link decides whether to connect.
"""

from __future__ import annotations

from importlib.resources import files as package_files
from typing import TYPE_CHECKING, Final

from orchestrator.hosts.ssh.box_tmux import SOCKET
from orchestrator.hosts.ssh.login_shell import line_of
from orchestrator.hosts.tmux_arguments import checked_pane, checked_target, word
from orchestrator.model.boxes import Address

if TYPE_CHECKING:
    from orchestrator.hosts.tmux import Tmux
    from orchestrator.ports.box_link import MonitoredLink

BOX_OPTION: Final = "@box"
"""Distinguishes the window of a box from others here: an option of its pane, with the box's address."""

_SCRIPT: Final = package_files("orchestrator.hosts.ssh").joinpath("window.sh").read_text("utf-8")
"""Read at the start: see `hosts/launcher.py`."""

_ATTACH: Final = 'exec tmux -u -L "$1" attach-session -t "=$2" 2>/dev/null'


def window_argv(link: MonitoredLink, session: str) -> list[str]:
    """Return the command of a window that shows a session of our tmux on the box of this link.

    Each word is one word of tmux's `new-window`, after its options: no word of an address, a path or a name is
    interpreted by a shell or by tmux. The window stays until it is closed, whatever becomes of the connection.

    Raises:
        Refused: the session's name is none of ours, or the socket's path is too long.

    """
    there = line_of(["sh", "-c", _ATTACH, "sh", SOCKET, checked_target(session)])
    argv = ["sh", "-c", _SCRIPT, "box-window", str(link.address), str(link.socket), *link.terminal(there)]
    return [word(each) for each in argv]


def ensure_window(tmux: Tmux, session: str, link: MonitoredLink) -> str:
    """Open the window of a box in a task's session here, if there is none yet; return its pane.

    One window per task and box: its pane has the box's address as `@box`, by which `task attach` finds it. The session
    there has the same name.

    Raises:
        NoTarget, NoServer: there is no such session here.
        Unavailable: tmux cannot do it now.

    """
    box, here = str(link.address), f"={checked_target(session)}:"
    if found := _windows(tmux, here, box):
        return found[0]
    argv = window_argv(link, session)
    opened = tmux.cmd(
        "new-window", "-d", "-P", "-F", "#{pane_id}", "-n", window_name(link.address), *argv, target=here
    )
    pane = checked_pane(opened.stdout[0])
    tmux.cmd("set-option", "-p", BOX_OPTION, box, target=pane)
    return pane


def close_window(tmux: Tmux, session: str, link: MonitoredLink) -> None:
    """Close the window of a box in a task's session here; no error if there is none. Raises as `ensure_window`."""
    for pane in _windows(tmux, f"={checked_target(session)}:", str(link.address)):
        tmux.cmd("kill-pane", target=pane)


def _windows(tmux: Tmux, here: str, box: str) -> list[str]:
    seen = tmux.cmd("list-panes", "-s", "-F", f"#{{pane_id}} #{{{BOX_OPTION}}}", target=here)
    found = (line.partition(" ") for line in seen.stdout)
    return [checked_pane(pane) for pane, _, bears in found if bears == box]


def window_name(address: Address) -> str:
    """Return the name of a box's window in the session of a task: letters, digits and `-` of its host.

    Two boxes may have the same one; the window is found by its id.
    """
    name = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in address.host.lower())
    return checked_target(f"box-{name.strip('-')}"[:64])
