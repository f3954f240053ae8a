"""A tmux server of another version is known as such, never as a server that is not there."""

from __future__ import annotations

import os
import socket
import struct
import threading
from pathlib import Path

import pytest

from orchestrator.hosts.tmux import Tmux
from orchestrator.hosts.tmux_failures import NoServer, OtherProtocol

_VERSION = 12
"""The message by which a tmux server refuses a client of another protocol; its header tells the server's own."""


def test_server_of_another_protocol_is_named(tmp_path: Path) -> None:
    """The real tmux command meets a socket that answers as a server of protocol 7 does."""
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(path))
        listener.listen()
        listener.settimeout(10)

        def answer() -> None:
            client, _ = listener.accept()
            with client:
                client.settimeout(10)
                client.recv(1)
                client.sendall(struct.pack("=IHHII", _VERSION, 16, 0, 7, os.getpid()))
                while client.recv(4096):
                    pass

        server = threading.Thread(target=answer, daemon=True)
        server.start()
        with pytest.raises(OtherProtocol, match="another version") as caught:
            Tmux(os.fspath(path), os.environ).cmd("list-sessions")
        server.join(10)
    assert not isinstance(caught.value, NoServer)
