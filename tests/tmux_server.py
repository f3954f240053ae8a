"""A tmux server for one test: on a socket of its own, ended at the end by that socket."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.polling import wait_until


@dataclass
class TmuxSocket:
    """Where a test's tmux server listens: `name` for `tmux -L`, `environ` to call it from (no `TMUX` in it)."""

    folder: Path
    name: str = "test"
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.folder / f"tmux-{os.getuid()}" / self.name

    def tmux(self, *words: str) -> str:
        """Run one raw tmux command, as a user would, and return what it printed."""
        command = ["tmux", "-L", self.name, *words]
        done = subprocess.run(
            command, env=self.environ, capture_output=True, text=True, timeout=10, check=True
        )
        return done.stdout.rstrip("\n")

    def server_pid(self) -> int:
        """Return the server's pid, or 0 if there is none; a frozen one is found too."""
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(os.fspath(self.path))
            except OSError:
                return 0
            if not hasattr(socket, "SO_PEERCRED"):
                return int(self.tmux("display-message", "-p", "#{pid}"))
            credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return int(struct.unpack("3i", credentials)[0])

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop the server in its tracks for a while."""
        pid = self.server_pid()
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def kill(self) -> None:
        """Kill the server, as a crash would; its panes are hung up."""
        if pid := self.server_pid():
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: self.server_pid() != pid)


@pytest.fixture
def tmux_socket() -> Iterator[TmuxSocket]:
    # Not in tmp_path: the path of a socket must be shorter than 104 bytes.
    folder = Path(tempfile.mkdtemp(prefix="tmux-", dir="/tmp"))
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TMUX")}
    made = TmuxSocket(folder, environ=environ | {"TMUX_TMPDIR": os.fspath(folder)})
    yield made
    made.kill()
    shutil.rmtree(folder)


@contextmanager
def looked_at(socket: TmuxSocket, target: str) -> Iterator[None]:
    """Have somebody look at a session or window for a while, on a terminal of 90 columns and 25 lines."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", 25, 90, 0, 0))
    client = subprocess.Popen(
        ["tmux", "-L", socket.name, "attach-session", "-t", target],
        env={**socket.environ, "TERM": "screen-256color"},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    # Nobody reads what it shows but this, lest it stop.
    threading.Thread(target=_read_away, args=(leader,), daemon=True).start()
    try:
        yield
    finally:
        client.kill()
        client.wait()
        os.close(leader)


def _read_away(leader: int) -> None:
    with suppress(OSError):
        while os.read(leader, 65536):
            pass
