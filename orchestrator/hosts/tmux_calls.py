"""Calls of the `tmux` program, each with a deadline. No libtmux here: it costs more to import than a call takes."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from orchestrator.formats.scarcity import cause_of
from orchestrator.hosts.open_files import let_open_more
from orchestrator.hosts.tmux_failures import failure, is_of_another_version
from orchestrator.model.errors import Lasting, Unavailable

DEADLINE: Final = 5.0
"""Seconds that one call may take. It takes 3 ms; a frozen server would hang it forever."""

_PASSED: Final = (
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TMUX_TMPDIR",
    "TZ",
    "USER",
)
"""The parts of our environment that the tmux server gets: every pane that a user opens there inherits them."""


class TmuxCalls:
    """Calls of one tmux server: each raises if tmux refused it.

    Args:
        name: the server's name (`tmux -L`), or the path of its socket if it contains a slash.
        environ: the environment to start the server from; only an allow-list of it is passed on.
        deadline: seconds that one call may take.
        config: the configuration to start the server with; the user's own if there is none.

    """

    def __init__(
        self, name: str, environ: Mapping[str, str], deadline: float = DEADLINE, config: Path | None = None
    ) -> None:
        self.path = os.fspath(Path(name).expanduser()) if "/" in name else ""
        self.name = name
        self._environment = {each: environ[each] for each in _PASSED if each in environ}
        self.program = self._installed()
        self._deadline = deadline
        self._config = config

    def run(self, cmd: str, *words: str) -> subprocess.CompletedProcess[bytes]:
        """Run one tmux command.

        Raises:
            NoServer: no server runs on the socket.
            NoTarget: the session, window or pane does not exist.
            TmuxFailed: tmux refused for another reason.
            Unavailable: tmux is not installed, could not be started, or did not answer in time.
            Lasting: it is not installed, or the server is of another version.

        """
        where = f"-S{self.path}" if self.path else f"-L{self.name}"
        config = (f"-f{self._config}",) if self._config else ()
        try:
            done = self._ended((*config, where, cmd, *words))
        except subprocess.TimeoutExpired as late:
            why = let_open_more(self._server()) or "its server may be frozen"
            raise Unavailable(f"tmux did not answer within {self._deadline:g} s: {why}") from late
        if done.returncode == 0:
            return done
        said = " ".join(lines_of(done.stderr)) or f"exit {done.returncode}"
        raise failure(cmd, said, where[2:], self._server() if is_of_another_version(said) else 0)

    def _ended(self, words: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
        program = self._found()
        try:
            return subprocess.run(
                [program, "-u", *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=self._environment,
                timeout=self._deadline,
                check=False,
            )
        except OSError as error:
            raise Unavailable(f"tmux could not be started: {cause_of(error)}") from error

    def _found(self) -> str:
        """Return the path of tmux. It is looked for again where it is no longer: it may be upgraded, or removed."""
        if self.program is None or not os.access(self.program, os.X_OK):
            self.program = self._installed()
        if self.program is None:
            raise Lasting("tmux is not installed: install it with your package manager")
        return self.program

    def _installed(self) -> str | None:
        return shutil.which("tmux", path=self._environment.get("PATH"))

    def _server(self) -> int:
        """Return the pid of the server that listens on the socket; 0 if that is unknown."""
        folder = Path(self._environment.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"  # noqa: S108 (as tmux)
        with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError, AttributeError):
            client.settimeout(self._deadline)
            client.connect(self.path or os.fspath(folder / self.name))
            credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return int(struct.unpack("3i", credentials)[0])
        return 0


def lines_of(said: bytes) -> list[str]:
    """Return the lines of what tmux said on standard error."""
    return said.decode(errors="backslashreplace").splitlines()
