"""A tmux server that may open few files hangs all calls; it is let open more, or what it lacks is named."""

from __future__ import annotations

import os
import resource
import subprocess

import pytest

from orchestrator.hosts.open_files import let_open_more
from orchestrator.hosts.tmux import Tmux
from orchestrator.model.errors import Unavailable
from tests.polling import wait_until
from tests.tmux_server import TmuxSocket

FEW = 40
WINDOW = ("new-window", "-d", "-t", "=few:", "sleep", "600")


def full_server(socket: TmuxSocket, limit: str) -> Tmux:
    """Return a tmux whose server may open few files, and has opened them all."""
    session = f"exec tmux -L {socket.name} -f /dev/null new-session -d -s few sleep 600"
    subprocess.run(
        ["sh", "-c", f"ulimit {limit} {FEW}; {session}"],
        env=socket.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return Tmux(socket.name, socket.environ, deadline=1.0)


def fill(tmux: Tmux) -> str:
    """Open windows until tmux does not answer; return what is then said."""

    def open_all() -> None:
        for _ in range(FEW):
            tmux.cmd(*WINDOW)

    with pytest.raises(Unavailable) as caught:
        open_all()
    return str(caught.value)


def test_server_that_is_full_may_open_more_and_goes_on(tmux_socket: TmuxSocket) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] <= 2 * FEW:
        pytest.skip("this user may not open more files")
    tmux = full_server(tmux_socket, "-Sn")
    assert f"of {FEW} files open; its limit is" in fill(tmux)
    wait_until(lambda: _answers(tmux))
    for _ in range(FEW):
        tmux.cmd(*WINDOW)


def test_server_that_may_not_is_named_with_what_to_type(tmux_socket: TmuxSocket) -> None:
    said = fill(full_server(tmux_socket, "-n"))
    assert f"of {FEW} files open" in said
    assert f"prlimit --pid {tmux_socket.server_pid()} --nofile=" in said


def test_process_that_lacks_no_files_is_left_alone(tmux_socket: TmuxSocket) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert (let_open_more(os.getpid()), let_open_more(0), let_open_more(2**22 + 1)) == ("", "", "")
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


def _answers(tmux: Tmux) -> bool:
    try:
        tmux.cmd("list-sessions")
    except Unavailable:
        return False
    return True
