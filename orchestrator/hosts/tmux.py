"""One tmux server, controlled through libtmux, each call with a deadline."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import socket
import struct
import subprocess
from collections.abc import Mapping
from importlib.resources import files as package_files
from pathlib import Path
from typing import Final

import libtmux
from libtmux.common import tmux_cmd

from orchestrator.formats.scarcity import cause_of
from orchestrator.hosts.open_files import let_open_more
from orchestrator.hosts.tmux_failures import failure, is_of_another_version
from orchestrator.model.errors import Lasting, Unavailable
from orchestrator.ports.files import Files

DEADLINE: Final = 5.0
"""Seconds that one call may take. It takes 3 ms; a frozen server would hang it forever."""

_CONFIG: Final = package_files("orchestrator.hosts").joinpath("tmux.conf")
_LOG: Final = logging.getLogger(__name__)

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


class Tmux(libtmux.Server):
    """One tmux server of libtmux; but every command has a deadline, and raises if tmux refused it.

    Args:
        socket: the server's name (`tmux -L`), or the path of its socket if it contains a slash.
        environ: the environment to start the server from; only an allow-list of it is passed on.
        deadline: seconds that one call may take.
        config: the configuration to start the server with, if not the one in the package.

    """

    def __init__(
        self,
        socket: str,
        environ: Mapping[str, str],
        deadline: float = DEADLINE,
        config: Path | None = None,
    ) -> None:
        path = os.fspath(Path(socket).expanduser()) if "/" in socket else None
        super().__init__(
            socket_name=None if path else socket,
            socket_path=path,
            config_file=str(config or _CONFIG),
            tmux_bin=_found(environ),
        )
        self._environment = {name: environ[name] for name in _PASSED if name in environ}
        self._deadline = deadline

    def cmd(self, cmd: str, *args: str, target: str | int | None = None) -> tmux_cmd:
        """Run one tmux command (or several, with ";" as a word between them) and return its output.

        Raises:
            NoServer: no server runs on the socket.
            NoTarget: the session, window or pane does not exist.
            TmuxFailed: tmux refused for another reason.
            Unavailable: tmux is not installed, could not be started, or did not answer in time.
            Lasting: it is not installed, or the server is of another version.

        """
        where = f"-S{self.socket_path}" if self.socket_path else f"-L{self.socket_name}"
        aim = () if target is None else ("-t", str(target))
        try:
            done = _Answer(
                ("-u", f"-f{self.config_file}", where, cmd, *aim, *args),
                program=self.tmux_bin,
                environment=self._environment,
                deadline=self._deadline,
            )
        except _Late as late:
            why = let_open_more(self._server()) or "its server may be frozen"
            raise Unavailable(f"{late}: {why}") from late
        if done.returncode == 0:
            return done
        words = " ".join(done.stderr) or f"exit {done.returncode}"
        raise failure(cmd, words, where[2:], self._server() if is_of_another_version(words) else 0)

    def _server(self) -> int:
        """Return the pid of the server that listens on the socket; 0 if that is unknown."""
        folder = Path(self._environment.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"  # noqa: S108 (as tmux)
        path = self.socket_path or folder / (self.socket_name or "default")
        with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError, AttributeError):
            client.settimeout(self._deadline)
            client.connect(os.fspath(path))
            credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return int(struct.unpack("3i", credentials)[0])
        return 0


class _Late(Exception):
    """A call did not end by its deadline."""


class _Answer(tmux_cmd):
    """libtmux's class for a finished command, with a deadline and an environment of its own."""

    def __init__(
        self, words: tuple[str, ...], *, program: str | None, environment: dict[str, str], deadline: float
    ) -> None:
        if program is None:
            raise Lasting("tmux is not installed: install it with your package manager")
        self.cmd = [program, *words]
        try:
            done = subprocess.run(
                self.cmd,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=environment,
                timeout=deadline,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise _Late(f"tmux did not answer within {deadline:g} s") from error
        except OSError as error:
            raise Unavailable(f"tmux could not be started: {cause_of(error)}") from error
        self.returncode = done.returncode
        self.stdout = done.stdout.decode(errors="backslashreplace").split("\n")
        self.stderr = done.stderr.decode(errors="backslashreplace").splitlines()


def kept_config(files: Files, path: Path) -> Path:
    """Write our servers' configuration to `path`, and return where to read it.

    A daemon survives the replacement of its package; a server that it starts meanwhile must not lack its limits.
    """
    text = Path(str(_CONFIG)).read_bytes()
    try:
        files.write(path, text)
    except OSError as error:
        _LOG.warning("%s is not written (%s): tmux reads %s", path, error, _CONFIG)
        return Path(str(_CONFIG))
    return path


def _found(environ: Mapping[str, str]) -> str | None:
    return shutil.which("tmux", path=environ.get("PATH"))
