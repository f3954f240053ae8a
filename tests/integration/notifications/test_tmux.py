"""`tmux://` on a real server with a real client: what others wrote is shown, and never carried out."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from orchestrator.model.notification import Channel
from orchestrator.notifications.subprocess_sender import SubprocessSender
from orchestrator.ports.sender import Message, SendResult
from tests.tmux_server import TmuxSocket

TMUX = Channel("tmux", "tmux://")


@pytest.fixture
def server(tmux_socket: TmuxSocket) -> TmuxSocket:
    tmux_socket.tmux("-f", "/dev/null", "new-session", "-d", "-s", "demo-1", "-x", "200", "-y", "24", "cat")
    return tmux_socket


@contextmanager
def attached(server: TmuxSocket) -> Iterator[int]:
    """Attach a client whose terminal is ours to read."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 200))
    client = subprocess.Popen(
        ["tmux", "-L", server.name, "attach"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**server.environ, "TERM": "xterm", "LANG": "C.UTF-8"},
        start_new_session=True,
    )
    os.close(slave)
    try:
        until_shown(master, "demo-1")
        yield master
    finally:
        client.kill()
        client.wait()
        os.close(master)


def until_shown(master: int, words: str) -> str:
    """Read what the terminal shows until these words are in it."""
    shown, deadline = b"", time.monotonic() + 10
    while words.encode() not in shown:
        assert time.monotonic() < deadline, shown
        if select.select([master], [], [], 0.1)[0]:
            shown += os.read(master, 65536)
    return shown.decode(errors="replace")


def sent(server: TmuxSocket, title: str, body: str = "") -> SendResult:
    sender = SubprocessSender(10.0, server.name, server.environ | {"PATH": os.environ["PATH"]})
    (outcome,) = sender.send([Message(TMUX, title, body)])
    return outcome.result


def test_who_is_attached_sees_it(server: TmuxSocket) -> None:
    with attached(server) as master:
        assert sent(server, "demo asks: q1", "Keep the old\nname?") is SendResult.DELIVERED
        assert "\a" in until_shown(master, "demo asks: q1: Keep the old name?") or until_shown(master, "\a")


@pytest.mark.parametrize(
    "text",
    [
        "#(touch {}) #{{pane_id}} %H:%M",
        "$(touch {}) `touch {}`; kill-server ;",
        "-x #[fg=red] ; run-shell 'touch {}';",
    ],
)
def test_formats_and_commands_in_text_are_never_executed(server: TmuxSocket, text: str) -> None:
    """What looks like a format or a command is never carried out."""
    trap = server.folder / "t"
    said = text.format(trap, trap)
    with attached(server) as master:
        assert sent(server, said, f"{said} end;") is SendResult.DELIVERED
        shown = until_shown(master, "end")
    words = said.replace("#[fg=red]", "").split()
    assert [word for word in words if word not in shown] == []
    assert not trap.exists()
    assert server.server_pid()


def test_nobody_attached_or_no_server_is_refused(server: TmuxSocket) -> None:
    """Where nobody is attached or no server runs it is refused."""
    assert sent(server, "a title") is SendResult.REFUSED
    server.tmux("kill-server")
    assert sent(server, "a title") is SendResult.REFUSED


def test_frozen_server_is_unknown_by_the_deadline(server: TmuxSocket) -> None:
    """A frozen server is unknown and waited for no longer than the deadline."""
    with server.frozen():
        begun = time.monotonic()
        sender = SubprocessSender(2.0, server.name, server.environ | {"PATH": os.environ["PATH"]})
        (outcome,) = sender.send([Message(TMUX, "a title", "")])
    assert outcome.result is SendResult.UNKNOWN
    assert time.monotonic() - begun < 8
